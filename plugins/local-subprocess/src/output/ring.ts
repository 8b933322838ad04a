/** Bytes kept in front of the tail, so that the reader can tell whether the tail begins inside a character. */
export const LOOK_BACK_BYTES = 3

const FIRST_CAPACITY = 1_024

/**
 * The last `maxBytes` of a stream, byte for byte whatever the chunking, with LOOK_BACK_BYTES in front of them. Appending costs the
 * size of the chunk. Memory is taken as the stream grows: most commands print a few lines.
 */
export class Ring {
  readonly #limit: number
  #buffer = Buffer.alloc(0)
  /** Offset of the stream's next byte; its place in the buffer is this modulo the capacity, once the buffer is full. */
  #end = 0
  #length = 0

  constructor(maxBytes: number) {
    this.#limit = maxBytes + LOOK_BACK_BYTES
  }

  /** Bytes of the stream so far. */
  get end(): number {
    return this.#end
  }

  /** Offset of the first byte that is still held, look-back included. */
  get start(): number {
    return this.#end - this.#length
  }

  append(chunk: Buffer): void {
    const from = Math.max(0, chunk.length - this.#limit)
    const kept = chunk.length - from
    this.#reserve(Math.min(this.#length + kept, this.#limit))
    const capacity = this.#buffer.length
    const at = (this.#end + from) % capacity
    const first = Math.min(kept, capacity - at)
    chunk.copy(this.#buffer, at, from, from + first)
    if (first < kept) chunk.copy(this.#buffer, 0, from + first)
    this.#end += chunk.length
    this.#length = Math.min(this.#length + kept, capacity)
  }

  /** Copies the bytes of [from, to) into `target` at `at`. The range lies within [start, end). */
  copy(from: number, to: number, target: Buffer, at: number): void {
    const capacity = this.#buffer.length
    if (to <= from) return
    const place = from % capacity
    const first = Math.min(to - from, capacity - place)
    this.#buffer.copy(target, at, place, place + first)
    this.#buffer.copy(target, at + first, 0, to - from - first)
  }

  /** Gives back what will not be filled any more. */
  trim(): void {
    if (this.#length > 0 && this.#length < this.#buffer.length / 2) this.#resize(this.#length)
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return
    this.#resize(Math.min(this.#limit, Math.max(FIRST_CAPACITY, this.#buffer.length * 2, length)))
  }

  #resize(capacity: number): void {
    const { start } = this
    const old = Buffer.allocUnsafeSlow(this.#length)
    if (this.#length > 0) this.copy(start, this.#end, old, 0)
    this.#buffer = Buffer.allocUnsafeSlow(capacity)
    const at = start % capacity
    const first = Math.min(old.length, capacity - at)
    old.copy(this.#buffer, at, 0, first)
    old.copy(this.#buffer, 0, first)
  }
}
