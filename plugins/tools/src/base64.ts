import { problems } from './text.ts'

/** One character that is none of it: a search without a way back, however long the text. */
const FOREIGN = /[^A-Za-z0-9+/]/

/** What a last character before the padding may be: the bits it has too many are 0, or some decoders refuse it. */
const LAST = [/./, /[AEIMQUYcgkosw048]/, /[AQgw]/] as const

/** What keeps a text from being standard base64 with padding (RFC 4648, section 4), and where; undefined if nothing does. Looks at it once. */
export function base64Problem(text: string): string | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  const body = padding === 0 ? text : text.slice(0, -padding)
  const foreign = body.search(FOREIGN)
  if (foreign >= 0) return problems.characterAt(String.fromCodePoint(body.codePointAt(foreign) ?? 0), foreign)
  if (text.length % 4 !== 0) return problems.notInFours(text.length)
  const last = body.at(-1) ?? ''
  return body === '' || LAST[padding].test(last) ? undefined : problems.characterAt(last, body.length - 1)
}
