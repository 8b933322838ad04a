import type { ChannelReader } from '@tenon/jobs'

type Read = ReturnType<ChannelReader['readFrom']>

/** A final value as a stream that has ended. */
export class ValueReader implements ChannelReader {
  readonly finished = true
  readonly spillPath = undefined
  readonly #bytes: Buffer

  constructor(value: string) {
    this.#bytes = Buffer.from(value)
  }

  size(): number {
    return this.#bytes.length
  }

  earliest(): number {
    return 0
  }

  readFrom(offset: number, maxBytes = this.#bytes.length): Read {
    const startOffset = this.#boundaryFrom(offset)
    let nextOffset = Math.min(this.#bytes.length, startOffset + maxBytes)
    while (nextOffset > startOffset && this.#isInside(nextOffset)) nextOffset--
    return { text: this.#bytes.toString('utf8', startOffset, nextOffset), startOffset, nextOffset: Math.max(nextOffset, offset), lossy: false }
  }

  changed(): Promise<boolean> {
    return Promise.resolve(false)
  }

  #boundaryFrom(offset: number): number {
    let at = Math.min(offset, this.#bytes.length)
    while (this.#isInside(at)) at++
    return at
  }

  /** Between two bytes of one character: what `Buffer.from` makes is well-formed. */
  #isInside(at: number): boolean {
    const byte = this.#bytes[at]
    return byte !== undefined && byte >= 0x80 && byte <= 0xbf
  }
}
