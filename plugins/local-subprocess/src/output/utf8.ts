/**
 * Boundaries of characters in UTF-8, where a "character" is what the decoder turns into one code point: a well-formed sequence, or
 * the longest prefix of one ("maximal subpart", Unicode 15 section 3.9, WHATWG Encoding), or a single byte that can be neither.
 * A lead byte always starts a new one, so three bytes of look-back decide any position.
 */

/** Length that a lead byte announces; 1 for ASCII and for bytes that lead nothing. */
function announced(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
}

/** Some leads narrow their second byte, to keep out overlong forms, surrogates and what is above U+10FFFF. */
function continues(lead: number, position: number, byte: number): boolean {
  if (position === 1) {
    if (lead === 0xe0) return byte >= 0xa0 && byte <= 0xbf
    if (lead === 0xed) return byte >= 0x80 && byte <= 0x9f
    if (lead === 0xf0) return byte >= 0x90 && byte <= 0xbf
    if (lead === 0xf4) return byte >= 0x80 && byte <= 0x8f
  }
  return isContinuation(byte)
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf
}

/** End of the character that starts at `lead`, as far as the bytes before `limit` show it. */
function characterEnd(bytes: Uint8Array, lead: number, limit: number): number {
  const first = bytes[lead] ?? 0
  const most = Math.min(limit, lead + announced(first))
  let end = lead + 1
  while (end < most && continues(first, end - lead, bytes[end] ?? 0)) end++
  return end
}

/** Start of the character that could still contain the byte at `index`: the nearest lead byte at most three bytes before. */
function leadBefore(bytes: Uint8Array, index: number): number | undefined {
  for (let at = index - 1; at >= 0 && at >= index - 3; at--) {
    if (!isContinuation(bytes[at] ?? 0)) return at
  }
  return undefined
}

/** The first boundary at or after `index`; undefined if the character around it may go on beyond the bytes there are. */
export function boundaryFrom(bytes: Uint8Array, index: number): number | undefined {
  const lead = leadBefore(bytes, index)
  if (lead === undefined || index >= bytes.length) return index
  const end = characterEnd(bytes, lead, bytes.length)
  if (end <= index) return index
  return end === bytes.length && end - lead < announced(bytes[lead] ?? 0) ? undefined : end
}

/** The last boundary at or before `end` in front of which every character is complete, whatever comes behind. */
export function completeUntil(bytes: Uint8Array, start: number, end: number): number {
  for (let at = end - 1; at >= start && at >= end - 3; at--) {
    const byte = bytes[at] ?? 0
    if (isContinuation(byte)) continue
    return characterEnd(bytes, at, end) === end && end - at < announced(byte) ? at : end
  }
  return end
}
