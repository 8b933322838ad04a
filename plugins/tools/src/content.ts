import type { Content } from '@tenon/tools'
import { base64Problem } from './base64.ts'
import { describe } from './expectation.ts'
import { formatPath } from './json-path.ts'
import { expected, policyProblems, text } from './text.ts'

/** RFC 6838, with parameters as a protocol may add them. */
const MEDIA_TYPE = /^[A-Za-z0-9][\w!#$&^.+-]*\/[A-Za-z0-9][\w!#$&^.+-]*(;.+)?$/

/** A frozen copy, each field read once. Throws what says which field of which block is none, as a protocol needs it. */
export function copyContent(blocks: unknown): readonly Content[] {
  if (!Array.isArray(blocks) || blocks.length === 0) throw new Error(policyProblems.content)
  return Object.freeze(Array.from(blocks as readonly unknown[], copyBlock))
}

function copyBlock(block: unknown, index: number): Content {
  if (typeof block !== 'object' || block === null) throw malformed([index], expected.anObject, describe(block))
  const { type, text, data, mimeType, uri, title } = block as Record<string, unknown>
  const stringAt = (field: string, value: unknown): string => {
    // Half of a character is what no protocol can carry.
    if (typeof value === 'string') return value.toWellFormed()
    throw malformed([index, field], expected.type('string'), describe(value))
  }
  switch (type) {
    case 'text':
      return Object.freeze({ type, text: stringAt('text', text) })
    case 'image': {
      const image = { type, data: stringAt('data', data), mimeType: stringAt('mimeType', mimeType) } as const
      if (image.data === '') throw malformed([index, 'data'], expected.base64, describe(''))
      const problem = base64Problem(image.data)
      if (problem !== undefined) throw malformed([index, 'data'], expected.base64, problem)
      if (!MEDIA_TYPE.test(image.mimeType)) throw malformed([index, 'mimeType'], expected.mediaType, describe(image.mimeType))
      return Object.freeze(image)
    }
    case 'link': {
      const link = { type, uri: stringAt('uri', uri) } as const
      if (link.uri === '') throw malformed([index, 'uri'], expected.notEmpty, describe(''))
      return Object.freeze(title === undefined ? link : { ...link, title: stringAt('title', title) })
    }
    default:
      throw malformed([index, 'type'], expected.values(['text', 'image', 'link'].map(describe)), describe(type))
  }
}

function malformed(path: readonly (string | number)[], wanted: string, got: string): Error {
  return new Error(text.invalid(`content${formatPath(path)}`, expected.butGot(wanted, got)))
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

/** At most `maxBytes` of UTF-8, `…` included, in whole characters. */
export function boundMessage(message: string, maxBytes: number): string {
  return Buffer.byteLength(message) <= maxBytes ? message.toWellFormed() : `${cutText(message, maxBytes - 3)}…`
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
