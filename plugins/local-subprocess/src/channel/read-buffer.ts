/** Pipes are filled and read by pages, nearly always. */
const PAGE_BYTES = 4_096

/**
 * What all streams of a runtime read into, one after another. Its beginnings of whole pages are made once: a gigabyte in pieces of 64 KiB
 * would else leave thousands of views behind, and a host that grows until they are collected.
 */
export class ReadBuffer {
  readonly whole: Buffer
  readonly #beginnings = new Map<number, Buffer>()

  constructor(bytes: number) {
    this.whole = Buffer.allocUnsafeSlow(bytes)
  }

  /** The first `count` bytes. */
  beginning(count: number): Buffer {
    if (count === this.whole.length) return this.whole
    if (count % PAGE_BYTES !== 0) return this.whole.subarray(0, count)
    const known = this.#beginnings.get(count)
    if (known !== undefined) return known
    const made = this.whole.subarray(0, count)
    this.#beginnings.set(count, made)
    return made
  }
}
