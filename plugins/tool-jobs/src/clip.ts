const ELLIPSIS_BYTES = 3

/** At most so many bytes of UTF-8, on whole characters, the last of them `…` if it was cut. */
export function clipBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  return most < ELLIPSIS_BYTES ? '' : `${firstBytes(text, most - ELLIPSIS_BYTES)}…`
}

/** At most so many characters, the last of them `…` if it was cut. */
export function clipCharacters(text: string, most: number): string {
  const characters = [...text]
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`
}

/** The first bytes of a text, on whole characters. */
export function firstBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  let end = Math.max(0, Math.min(bytes.length, most))
  while (end > 0 && isInside(bytes[end])) end--
  return bytes.toString('utf8', 0, end)
}

/** The last bytes of a text, on whole characters. */
export function lastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text)
  let start = Math.max(0, bytes.length - most)
  while (isInside(bytes[start])) start++
  return bytes.toString('utf8', start)
}

export function bytesOf(text: string): number {
  return Buffer.byteLength(text)
}

/** Continues a character of UTF-8. */
function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}
