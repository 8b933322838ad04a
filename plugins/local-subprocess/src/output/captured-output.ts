import type { AbortHub } from '@tenon/abort-hub'
import { type OutputRead, type OutputReader, validateRead } from '@tenon/subprocess'
import type { Capture } from './capture.ts'
import { LOOK_BACK_BYTES } from './ring.ts'
import { boundaryFrom, completeUntil } from './utf8.ts'

/** A capture as text. */
export class CapturedOutput implements OutputReader {
  readonly #capture: Capture
  readonly #aborts: AbortHub

  constructor(capture: Capture, aborts: AbortHub) {
    this.#capture = capture
    this.#aborts = aborts
  }

  size(): number {
    return this.#capture.size
  }

  earliest(): number {
    return this.#capture.earliest
  }

  get finished(): boolean {
    return this.#capture.finished
  }

  get spillPath(): string | undefined {
    return this.#capture.spillPath
  }

  release(): void {
    this.#capture.release()
  }

  readFrom(byteOffset: number, maxBytes?: number): OutputRead {
    validateRead(byteOffset, maxBytes)
    try {
      // A file that turns out to be gone withdraws itself; the second try serves the tail.
      return this.#read(byteOffset, maxBytes) ?? this.#read(byteOffset, maxBytes) ?? this.#nothing(byteOffset, false)
    } catch (error) {
      return { ...this.#nothing(byteOffset, false), error: error instanceof Error ? error.message : String(error) }
    }
  }

  async changed(afterOffset: number, signal: AbortSignal): Promise<boolean> {
    if (this.#capture.size > afterOffset) return true
    if (this.#capture.finished || signal.aborted) return false
    const { changed, cancel } = this.#capture.wait(afterOffset)
    const forget = this.#aborts.on(signal, cancel)
    try {
      return await changed
    } finally {
      forget()
    }
  }

  #read(byteOffset: number, maxBytes: number | undefined): OutputRead | undefined {
    const capture = this.#capture
    const { size, earliest } = capture
    if (byteOffset >= size) return this.#nothing(byteOffset, false)
    const lossy = byteOffset < earliest
    const from = Math.max(byteOffset, earliest)
    const most = Math.min(maxBytes ?? capture.maxBytes, capture.maxBytes)
    const first = Math.max(capture.held, from - LOOK_BACK_BYTES)
    const last = Math.min(size, from + LOOK_BACK_BYTES + most)
    const bytes = capture.bytes(first, last)
    if (bytes === undefined) return undefined
    // An unfinished character at the very end may still grow, so where the next one begins is not known yet.
    const start = boundaryFrom(bytes, from - first) ?? (capture.finished ? bytes.length : undefined)
    if (start === undefined) return this.#nothing(from, lossy)
    let end = Math.min(bytes.length, start + most)
    if (first + end < size || !capture.finished) end = completeUntil(bytes, start, end)
    return this.#result(bytes.toString('utf8', start, end), first + start, first + end, lossy)
  }

  #nothing(offset: number, lossy: boolean): OutputRead {
    return this.#result('', offset, offset, lossy)
  }

  #result(text: string, startOffset: number, nextOffset: number, lossy: boolean): OutputRead {
    const { spillPath, fault } = this.#capture
    return { text, startOffset, nextOffset, lossy, ...(spillPath !== undefined && { spillPath }), ...(fault !== undefined && { error: fault }) }
  }
}
