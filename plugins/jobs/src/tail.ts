import type { JobRead, OutputChunk } from '@tenon/jobs'
import { callReader, LEAST_READ_BYTES, sizesOf } from './channel.ts'
import type { KeptJobs } from './kept.ts'
import { cursorOf, readChannel, readOf } from './output.ts'
import type { Channel, JobRecord } from './record.ts'
import { inShares } from './shares.ts'

const FIRST_SPAN_BYTES = 4_096

/** The last retained lines of every channel, read or not; the cursor goes to the end, and what it passes over unread is counted. */
export function readTail(jobs: KeptJobs, record: JobRecord, lines: number, maxBytes: number): JobRead {
  const { channels } = record
  const tails: Tail[] = []
  const retained = channels.map((channel) => {
    const { size, earliest } = sizesOf(jobs, record, channel)
    return size - earliest
  })
  inShares(retained, maxBytes, (at, most) => {
    const tail = tailOf(jobs, record, channels[at] as Channel, lines, Math.max(LEAST_READ_BYTES, most))
    tails[at] = tail
    return Buffer.byteLength(tail.text)
  })
  const from = cursorOf(record)
  let skipped = 0
  const chunks = channels.flatMap((channel, at) => {
    const { start, text, next, faults } = tails[at] as Tail
    // What cannot be read is not passed over.
    if (text === '' && faults.length > 0) return faults
    const lost = Math.max(0, channel.sizes.earliest - channel.cursor)
    // At the very beginning of what is retained nothing was passed over: what is missing there was lost.
    const dropped = start > channel.sizes.earliest ? 0 : lost
    skipped += Math.max(0, start - channel.cursor - dropped)
    from[channel.name] = start
    channel.cursor = Math.max(channel.cursor, next)
    const chunk = Object.freeze({ channel: channel.name, at: start, text, dropped })
    return text !== '' || dropped > 0 ? [chunk, ...faults] : faults
  })
  return readOf(jobs, record, from, { chunks, next: cursorOf(record) }, skipped)
}

interface Tail {
  readonly start: number
  readonly text: string
  readonly next: number
  readonly faults: readonly OutputChunk[]
}

function tailOf(jobs: KeptJobs, record: JobRecord, channel: Channel, lines: number, budget: number): Tail {
  const { size, earliest } = channel.sizes
  for (let span = Math.min(FIRST_SPAN_BYTES, budget); ; span = Math.min(span * 4, budget)) {
    const start = Math.max(earliest, size - span)
    const { chunks, next } = readChannel(jobs, record, channel, start, span * 3)
    const faults = chunks.filter(({ error }) => error !== undefined)
    const text = chunks.map((chunk) => chunk.text).join('')
    const first = chunks[0]?.at ?? start
    const cut = startOfLastLines(text, lines)
    const found = cut !== undefined || start === earliest || span >= budget || faults.length > 0
    if (!found) continue
    const kept = lastBytes(text.slice(cut ?? 0), budget)
    const passed = text.slice(0, text.length - kept.length)
    return { start: first + bytesOf(jobs, record, channel, first, passed), text: kept, next, faults: faults.map((fault) => ({ ...fault, text: '' })) }
  }
}

/** Where the last `lines` lines begin; undefined if there are not that many. */
function startOfLastLines(text: string, lines: number): number | undefined {
  let at = text.endsWith('\n') ? text.length - 1 : text.length
  for (let left = lines; left > 0; left--) {
    if (at === 0) return undefined
    at = text.lastIndexOf('\n', at - 1)
    if (at < 0) return undefined
  }
  return at + 1
}

/** The last `budget` bytes of a text, from a whole character on. */
function lastBytes(text: string, budget: number): string {
  const bytes = Buffer.from(text)
  let from = Math.max(0, bytes.length - budget)
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from++
  return bytes.toString('utf8', from)
}

/** How many bytes of the stream a text from `offset` on stands for: of those that are no text each decodes to three. */
function bytesOf(jobs: KeptJobs, record: JobRecord, channel: Channel, offset: number, text: string): number {
  let [low, high] = [text.length, Buffer.byteLength(text)]
  if (!text.includes('\ufffd')) return high
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (callReader(jobs, record, channel, offset, middle).text.length < text.length) low = middle + 1
    else high = middle
  }
  return low
}
