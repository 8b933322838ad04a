import type { JobView } from './job-view.ts'

/** Channel → absolute offset in bytes. A missing channel means 0. */
export type Offsets = Readonly<Record<string, number>>

/**
 * A reader over bytes the producer keeps. Structural, so that this package needs no process contract: the `OutputReader` of
 * `@tenon/subprocess` is assignable as it is. Offsets count the bytes of the whole stream; text never cuts a character.
 */
export interface ChannelReader {
  /** Bytes so far. */
  size(): number
  /** Offset of the first byte that can still be read. */
  earliest(): number
  readonly finished: boolean
  /** Of a file with the whole stream; undefined where there is none, or it is not complete. */
  readonly spillPath: string | undefined
  /** `lossy`: bytes between `offset` and `startOffset` are gone. `error`: the capture could not be read, which is not "no output". */
  readFrom(
    offset: number,
    maxBytes?: number,
  ): { readonly text: string; readonly startOffset: number; readonly nextOffset: number; readonly lossy: boolean; readonly error?: string }
  /** True: grown or lost. False: aborted or finished. Costs nothing while nobody asks. */
  changed(afterOffset: number, signal: AbortSignal): Promise<boolean>
}

/** Rendered in the order of the keys, which match `[A-Za-z][A-Za-z0-9_-]{0,31}`: a model reads them. `result` is that of a final value. */
export interface OutputSource {
  readonly channels: Readonly<Record<string, ChannelReader>>
}

/** A piece of one channel, from the absolute offset `at`. `dropped`: bytes that were lost right before it. */
export interface OutputChunk {
  readonly channel: string
  readonly at: number
  readonly text: string
  readonly dropped: number
  readonly error?: string
}

export interface JobRead {
  readonly job: JobView
  readonly from: Offsets
  /** Reading here goes on without a gap and repeats nothing. */
  readonly next: Offsets
  readonly chunks: readonly OutputChunk[]
  /** Bytes left after `next`, all channels together. */
  readonly unread: number
  /** Unread bytes that `tailLines` passed over. */
  readonly skipped: number
}
