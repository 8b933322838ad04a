import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChannelReader } from '@tenon/jobs'
import type { KeptJobs } from './kept.ts'
import { OUTCOME_CHARACTERS, oneLine } from './one-line.ts'
import type { Channel, JobRecord } from './record.ts'
import { text } from './text.ts'
import { messageOf } from './thrown.ts'

/** A reader refuses less: the longest character. */
export const LEAST_READ_BYTES = 4

/** What one call of a reader gave. Its faults are `error`. */
export interface Piece {
  readonly text: string
  readonly start: number
  readonly next: number
  /** Bytes lost between where it was asked to begin and `start`. */
  readonly dropped: number
  readonly error: string | undefined
}

export function openChannel(name: string, reader: ChannelReader): Channel {
  return { name, reader, cursor: 0, sizes: NOTHING, settledSize: undefined }
}

const NOTHING: Channel['sizes'] = Object.freeze({ size: 0, earliest: 0 })

/** What the reader tells now, or told last. */
export function sizesOf(jobs: KeptJobs, record: JobRecord, channel: Channel): Channel['sizes'] {
  const { reader, sizes } = channel
  try {
    const [size, earliest, spillPath] = [reader.size(), reader.earliest(), reader.spillPath]
    if (!(isOffset(size) && isOffset(earliest) && (spillPath === undefined || typeof spillPath === 'string'))) throw new Error(text.oddSizes)
    if (size !== sizes.size || earliest !== sizes.earliest || spillPath !== sizes.spillPath) {
      channel.sizes = Object.freeze(spillPath === undefined ? { size, earliest } : { size, earliest, spillPath })
    }
  } catch (error) {
    warnOfReader(jobs, record, channel, messageOf(error))
  }
  return channel.sizes
}

/** At most `maxBytes` of text, from `offset` on; LEAST_READ_BYTES at least. */
export function readPiece(jobs: KeptJobs, record: JobRecord, channel: Channel, offset: number, maxBytes: number): Piece {
  const piece = callReader(jobs, record, channel, offset, maxBytes)
  // A byte that is no text decodes to three: a third of it fits in any case.
  return Buffer.byteLength(piece.text) <= maxBytes ? piece : callReader(jobs, record, channel, offset, Math.floor(maxBytes / 3))
}

/** Resolves true when the channel has grown or lost data, false when nothing more will come. Never rejects. */
export async function changed(jobs: KeptJobs, record: JobRecord, channel: Channel, afterOffset: number, signal: AbortSignal): Promise<boolean> {
  const before = channel.sizes
  try {
    const more = await channel.reader.changed(afterOffset, signal)
    // One that says so of nothing would be asked again and again, and nobody else would get a turn.
    if (more && sizesOf(jobs, record, channel) === before) await nextTurn()
    return more
  } catch (error) {
    warnOfReader(jobs, record, channel, messageOf(error))
    return false
  }
}

/** The reader's own answer, contained. */
export function callReader(jobs: KeptJobs, record: JobRecord, channel: Channel, offset: number, maxBytes: number): Piece {
  try {
    const { text: piece, startOffset, nextOffset, lossy, error } = channel.reader.readFrom(offset, Math.max(LEAST_READ_BYTES, maxBytes))
    if (typeof piece !== 'string' || !isOffset(startOffset) || !isOffset(nextOffset)) throw new Error(text.oddRead)
    const fault = error === undefined ? undefined : faultOf(jobs, record, channel, error)
    return { text: piece, start: startOffset, next: nextOffset, dropped: lossy ? Math.max(0, startOffset - offset) : 0, error: fault }
  } catch (error) {
    return { text: '', start: offset, next: offset, dropped: 0, error: faultOf(jobs, record, channel, messageOf(error)) }
  }
}

function isOffset(value: unknown): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** One line: a model reads it in a marker. */
function faultOf(jobs: KeptJobs, record: JobRecord, channel: Channel, message: string): string {
  warnOfReader(jobs, record, channel, message)
  return oneLine(message, OUTCOME_CHARACTERS)
}

function warnOfReader(jobs: KeptJobs, record: JobRecord, channel: Channel, message: string): void {
  if (record.warnedOfReader) return
  record.warnedOfReader = true
  jobs.activation.log.warn({ job: record.id, channel: channel.name }, `output of job ${record.id} could not be read: ${message}`)
}
