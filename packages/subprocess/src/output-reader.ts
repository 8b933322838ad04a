/**
 * What one collected stream has delivered. Any number of readers may use it at once; it holds no cursor. Offsets are bytes of the
 * whole stream. Valid after exit.
 *
 * Text is UTF-8; invalid bytes become U+FFFD. Chained reads (`readFrom(previous.nextOffset)`) concatenate to the decode of the whole
 * stream, whatever the chunking or reading schedule.
 */
export interface OutputReader {
  /** Bytes seen so far. Monotone; a lower bound once data was discarded. */
  size(): number
  /** First offset still readable; 0 until something was lost. */
  earliest(): number
  /** Nothing is expected to write any more: end of file, or the leader and every process that could write are gone. */
  readonly finished: boolean
  /** File holding the complete stream: only in spill form, only while size() > maxBytes, and only while it is complete. */
  readonly spillPath: string | undefined
  /**
   * Text from `byteOffset` on, at most `maxBytes` (default and ceiling: the collection's own maxBytes) and never across lost data.
   * A start inside a character moves forward, by at most 3 bytes; an incomplete final character is held back until it completes or
   * the stream is finished. An offset beyond the end yields `''` and the same offset. I/O errors are reported, not thrown.
   * @throws SubprocessError READ_INVALID for an offset that is not a non-negative safe integer or a maxBytes below 4.
   */
  readFrom(byteOffset: number, maxBytes?: number): OutputRead
  /** The owner no longer needs more than the tail: deletes the spill file. Idempotent. */
  release(): void
  /**
   * Resolves true once size() > afterOffset or data was lost; false when `signal` aborts or the stream is finished. Never rejects.
   * A follower passes the `size()` it saw before a read that returned nothing, not `nextOffset`: an unfinished character is held back
   * from the text but counts in the size. After false a last read returns what was held back.
   */
  changed(afterOffset: number, signal: AbortSignal): Promise<boolean>
}

export interface OutputRead {
  readonly text: string
  /** Offset of the first byte of `text`, and the offset to continue from. Both lie on code-point boundaries. */
  readonly startOffset: number
  readonly nextOffset: number
  /** Stream bytes at or after the requested offset were lost before this text (not merely skipped for alignment). */
  readonly lossy: boolean
  /** The reader's `spillPath` at the moment of the read. */
  readonly spillPath?: string
  /** Set when the capture could not be read: distinct from "no output". */
  readonly error?: string
}
