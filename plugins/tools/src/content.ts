import type { Content } from '@tenon/tools'
import { policyProblems, text } from './text.ts'

/** A frozen copy, each field read once. Throws what says which block is malformed. */
export function copyContent(blocks: unknown): readonly Content[] {
  if (!Array.isArray(blocks) || blocks.length === 0) throw new Error(policyProblems.content)
  return Object.freeze(Array.from(blocks as readonly unknown[], copyBlock))
}

function copyBlock(block: unknown, index: number): Content {
  if (typeof block === 'object' && block !== null) {
    const { type, text, data, mimeType, uri, title } = block as Record<string, unknown>
    if (type === 'text' && typeof text === 'string') return Object.freeze({ type, text })
    if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string') return Object.freeze({ type, data, mimeType })
    if (type === 'link' && typeof uri === 'string') {
      if (title === undefined) return Object.freeze({ type, uri })
      if (typeof title === 'string') return Object.freeze({ type, uri, title })
    }
  }
  throw new Error(policyProblems.block(index))
}

/** All text together, in UTF-8 bytes with the marker. Cut on a character; text blocks after the cut go, others stay. */
export function boundContent(content: readonly Content[], maxBytes: number): readonly Content[] {
  if (textBytes(content) <= maxBytes) return content
  const marker = Buffer.byteLength(text.truncated) + 1
  let left = maxBytes - marker
  let cut = false
  const bounded: Content[] = []
  for (const block of content) {
    if (block.type !== 'text') bounded.push(block)
    else if (!cut) {
      const bytes = Buffer.byteLength(block.text)
      if (bytes <= left) {
        left -= bytes
        bounded.push(block)
      } else {
        cut = true
        bounded.push(Object.freeze({ type: 'text', text: withMarker(cutText(block.text, left)) }))
      }
    }
  }
  return Object.freeze(bounded)
}

/** At most `maxBytes` of UTF-8, `…` included. */
export function boundMessage(message: string, maxBytes: number): string {
  return Buffer.byteLength(message) <= maxBytes ? message : `${cutText(message, maxBytes - 3)}…`
}

function withMarker(cut: string): string {
  return cut === '' || cut.endsWith('\n') ? `${cut}${text.truncated}` : `${cut}\n${text.truncated}`
}

/** The longest beginning of whole characters that fits. */
function cutText(whole: string, maxBytes: number): string {
  // Slicing by code units first bounds the work: a code unit is at least a byte of UTF-8.
  const bytes = Buffer.from(whole.slice(0, maxBytes + 1))
  let end = Math.min(maxBytes, bytes.length)
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

function textBytes(content: readonly Content[]): number {
  let bytes = 0
  for (const block of content) if (block.type === 'text') bytes += Buffer.byteLength(block.text)
  return bytes
}
