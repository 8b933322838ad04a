import { JobError, type JobRead, type Offsets, type OutputChunk } from '@tenon/jobs'
import { LEAST_READ_BYTES, type Piece, readPiece, sizesOf } from './channel.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import type { Channel, JobRecord } from './record.ts'
import { inShares } from './shares.ts'
import { text } from './text.ts'

export interface Page {
  readonly chunks: readonly OutputChunk[]
  readonly next: Readonly<Record<string, number>>
}

/** Reads on in every channel, at most `maxBytes` of text in all. Moves nothing. */
export function readPage(jobs: KeptJobs, record: JobRecord, from: Offsets, maxBytes: number): Page {
  const { channels } = record
  const offsets = channels.map(({ name }) => from[name] ?? 0)
  const reads: ChannelPage[] = []
  const needs = channels.map((channel, at) => available(jobs, record, channel, offsets[at] ?? 0))
  // One that has nothing new is asked all the same: only so it can say that it cannot be read.
  inShares(needs, maxBytes, (at, most) => {
    const read = readChannel(jobs, record, channels[at] as Channel, offsets[at] ?? 0, most)
    reads[at] = read
    return read.bytes
  })
  return {
    chunks: reads.flatMap(({ chunks }) => chunks),
    next: Object.fromEntries(channels.map(({ name }, at) => [name, reads[at]?.next ?? 0])),
  }
}

interface ChannelPage {
  readonly chunks: readonly OutputChunk[]
  readonly next: number
  /** Of its text. */
  readonly bytes: number
}

/** A reader gives less than it could at a gap, and at its own ceiling: goes on until the budget is used up or nothing comes. */
export function readChannel(jobs: KeptJobs, record: JobRecord, channel: Channel, from: number, budget: number): ChannelPage {
  const pieces: Piece[] = []
  let [at, bytes, over] = [from, 0, false]
  while (!over && budget - bytes >= LEAST_READ_BYTES) {
    const piece = readPiece(jobs, record, channel, at, budget - bytes)
    const length = Buffer.byteLength(piece.text)
    // A single character may be too much for what is left; of nothing but that, it has to be taken all the same.
    if (bytes + length > budget && bytes > 0) break
    over = piece.next <= at || piece.error !== undefined
    if (length > 0 || piece.dropped > 0 || piece.error !== undefined) pieces.push(piece)
    at = Math.max(at, piece.next)
    bytes += length
  }
  return { chunks: joined(channel, pieces), next: at, bytes }
}

/** What a read gives, with the bytes that are left after `next`. */
export function readOf(jobs: KeptJobs, record: JobRecord, from: Offsets, { chunks, next }: Page, skipped = 0): JobRead {
  const { channels } = record
  return Object.freeze({
    job: viewOf(jobs, record),
    from: Object.freeze(offsetsFrom(record, from)),
    next: Object.freeze(next),
    chunks: Object.freeze(chunks),
    unread: channels.reduce((sum, channel) => sum + available(jobs, record, channel, next[channel.name] ?? 0), 0),
    skipped,
  })
}

/** Where the model's next read begins. */
export function cursorOf(record: JobRecord): Record<string, number> {
  return Object.fromEntries(record.channels.map(({ name, cursor }) => [name, cursor]))
}

/** An offset for every channel there is. */
export function offsetsFrom(record: JobRecord, from: Offsets): Record<string, number> {
  return { ...Object.fromEntries(record.channels.map(({ name }) => [name, 0])), ...from }
}

/** @throws JobError JOB_OFFSET_INVALID for what is no offset of this output */
export function checkOffsets(jobs: KeptJobs, record: JobRecord, offsets: Offsets): Offsets {
  const fault = (name: string, offset: unknown): JobError => new JobError('JOB_OFFSET_INVALID', text.invalidOffset(name, offset))
  for (const [name, offset] of Object.entries(offsets)) {
    const channel = record.channels.find((other) => other.name === name)
    if (channel === undefined || !Number.isSafeInteger(offset) || offset < 0) throw fault(name, offset)
    if (offset > sizesOf(jobs, record, channel).size) throw fault(name, offset)
  }
  return offsets
}

/** Bytes that can still be read from there on. */
function available(jobs: KeptJobs, record: JobRecord, channel: Channel, from: number): number {
  const { size, earliest } = sizesOf(jobs, record, channel)
  return Math.max(0, size - Math.max(from, earliest))
}

/** One chunk for what hangs together: the next begins after a gap, or says that it could not be read. */
function joined({ name }: Channel, pieces: readonly Piece[]): readonly OutputChunk[] {
  const chunks: OutputChunk[] = []
  for (const { start, text: read, dropped, error } of pieces) {
    const last = chunks.at(-1)
    if (last === undefined || dropped > 0 || error !== undefined) {
      chunks.push({ channel: name, at: start, text: read, dropped, ...(error === undefined ? {} : { error }) })
    } else chunks[chunks.length - 1] = { ...last, text: last.text + read }
  }
  return chunks.map((chunk) => Object.freeze(chunk))
}
