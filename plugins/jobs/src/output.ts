import { JobError, type JobRead, type Offsets, type OutputChunk } from '@tenon/jobs'
import { LEAST_READ_BYTES, type Piece, readPiece, sizesOf } from './channel.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import type { Channel, JobRecord } from './record.ts'
import { shares } from './shares.ts'
import { text } from './text.ts'

export interface Page {
  readonly chunks: readonly OutputChunk[]
  readonly next: Readonly<Record<string, number>>
}

/** Reads on in every channel, at most `maxBytes` of text in all. Moves nothing. */
export function readPage(jobs: KeptJobs, record: JobRecord, from: Offsets, maxBytes: number): Page {
  const channels = [...record.channels.values()]
  const needs = channels.map((channel) => available(jobs, record, channel, from[channel.name] ?? 0))
  const budgets = shares(needs, maxBytes, LEAST_READ_BYTES)
  const chunks: OutputChunk[] = []
  const next: Record<string, number> = {}
  channels.forEach((channel, at) => {
    const offset = from[channel.name] ?? 0
    // One that has nothing new is asked all the same: only so it can say that it cannot be read.
    const budget = needs[at] === 0 ? LEAST_READ_BYTES : (budgets[at] ?? 0)
    const read = readChannel(jobs, record, channel, offset, budget)
    chunks.push(...read.chunks)
    next[channel.name] = read.next
  })
  return { chunks, next }
}

/** A reader gives less than it could at a gap, and at its own ceiling: goes on until the budget is used up or nothing comes. */
export function readChannel(
  jobs: KeptJobs,
  record: JobRecord,
  channel: Channel,
  from: number,
  budget: number,
): { readonly chunks: readonly OutputChunk[]; readonly next: number } {
  const pieces: Piece[] = []
  let [at, left, over] = [from, budget, false]
  while (!over && left >= LEAST_READ_BYTES) {
    const piece = readPiece(jobs, record, channel, at, left)
    over = piece.next <= at || piece.error !== undefined
    if (piece.text !== '' || piece.dropped > 0 || piece.error !== undefined) pieces.push(piece)
    at = Math.max(at, piece.next)
    left -= Buffer.byteLength(piece.text)
  }
  return { chunks: joined(channel, pieces), next: at }
}

/** What a read gives, with the bytes that are left after `next`. */
export function readOf(jobs: KeptJobs, record: JobRecord, from: Offsets, { chunks, next }: Page, skipped = 0): JobRead {
  const channels = [...record.channels.values()]
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
  return Object.fromEntries([...record.channels.values()].map(({ name, cursor }) => [name, cursor]))
}

/** An offset for every channel there is. */
export function offsetsFrom(record: JobRecord, from: Offsets): Record<string, number> {
  return { ...Object.fromEntries([...record.channels.keys()].map((name) => [name, 0])), ...from }
}

/** @throws JobError JOB_OFFSET_INVALID for what is no offset of this output */
export function checkOffsets(jobs: KeptJobs, record: JobRecord, offsets: Offsets): Offsets {
  const fault = (name: string, offset: unknown): JobError => new JobError('JOB_OFFSET_INVALID', text.invalidOffset(name, offset))
  for (const [name, offset] of Object.entries(offsets)) {
    const channel = record.channels.get(name)
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
