/** What a model, or a person, is shown. `data` is base64. */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'link'; readonly uri: string; readonly title?: string }
