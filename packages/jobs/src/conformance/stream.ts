import type { ChannelReader } from '../index.ts'

type Read = ReturnType<ChannelReader['readFrom']>

/** A channel that a test writes: the last `keep` bytes are retained, characters are never cut. */
export class Stream implements ChannelReader {
  #bytes = Buffer.alloc(0)
  #start = 0
  readonly #keep: number
  readonly #waiting = new Set<{ readonly after: number; settle(more: boolean): void }>()
  finished = false
  spillPath: string | undefined
  /** Said by every read from now on. */
  error: string | undefined
  /** Thrown by every call from now on. */
  broken: Error | undefined
  /** Bytes that one read gives at most, whatever it is asked for. */
  ceiling = Number.POSITIVE_INFINITY
  calls = 0

  constructor(keep = Number.POSITIVE_INFINITY) {
    this.#keep = keep
  }

  /** `changed` calls that have not settled. */
  get pending(): number {
    return this.#waiting.size
  }

  write(data: string | Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(data as string)])
    const excess = this.#bytes.length - this.#keep
    if (excess > 0) {
      this.#bytes = Buffer.from(this.#bytes.subarray(excess))
      this.#start += excess
    }
    for (const wait of [...this.#waiting]) if (this.size() > wait.after) wait.settle(true)
  }

  finish(): void {
    this.finished = true
    for (const wait of [...this.#waiting]) wait.settle(false)
  }

  size(): number {
    this.#check()
    return this.#start + this.#bytes.length
  }

  earliest(): number {
    this.#check()
    return this.#start
  }

  readFrom(offset: number, maxBytes = Number.POSITIVE_INFINITY): Read {
    this.#check()
    const startOffset = this.#boundaryFrom(Math.max(offset, this.#start))
    const most = Math.min(this.size(), startOffset + Math.min(maxBytes, this.ceiling))
    const nextOffset = Math.max(startOffset, this.#completeUntil(startOffset, most))
    const text = this.#bytes.toString('utf8', startOffset - this.#start, nextOffset - this.#start)
    const read = { text, startOffset, nextOffset, lossy: offset < this.#start }
    return this.error === undefined ? read : { ...read, error: this.error }
  }

  changed(afterOffset: number, signal: AbortSignal): Promise<boolean> {
    this.#check()
    if (this.size() > afterOffset) return Promise.resolve(true)
    if (this.finished || signal.aborted) return Promise.resolve(false)
    return new Promise((resolve) => {
      const abort = (): void => wait.settle(false)
      const wait = {
        after: afterOffset,
        settle: (more: boolean): void => {
          this.#waiting.delete(wait)
          signal.removeEventListener('abort', abort)
          resolve(more)
        },
      }
      this.#waiting.add(wait)
      signal.addEventListener('abort', abort)
    })
  }

  #check(): void {
    this.calls++
    if (this.broken !== undefined) throw this.broken
  }

  #byte(offset: number): number {
    return this.#bytes[offset - this.#start] ?? 0
  }

  #boundaryFrom(offset: number): number {
    let at = offset
    while (at < this.#start + this.#bytes.length && at > this.#start && (this.#byte(at) & 0xc0) === 0x80) at++
    return at
  }

  /** Bytes written here are well-formed, but for what a test cuts on purpose at the end. */
  #completeUntil(start: number, end: number): number {
    for (let at = end - 1; at >= start && at >= end - 4; at--) {
      const byte = this.#byte(at)
      if ((byte & 0xc0) === 0x80) continue
      const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
      const isWhole = at + length <= end || (this.finished && end === this.#start + this.#bytes.length)
      return isWhole ? end : at
    }
    return end
  }
}
