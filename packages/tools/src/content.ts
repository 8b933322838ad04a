/**
 * What a model, or a person, is shown. `data` is standard base64 with padding, of at least one byte; `mimeType` a media type such as
 * `image/png`; a `uri` is not empty. Content of another shape is TOOL_OUTPUT.
 */
export type Content =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mimeType: string }
  | { readonly type: 'link'; readonly uri: string; readonly title?: string }
