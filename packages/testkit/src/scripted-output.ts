import { type OutputRead, type OutputReader, validateRead } from '@tenon/subprocess'

/** One stream as a test writes it. It keeps everything, so nothing is ever lossy. */
export class ScriptedOutput implements OutputReader {
  #bytes = Buffer.alloc(0)
  #finished = false
  #waiters: (() => void)[] = []

  get finished(): boolean {
    return this.#finished
  }

  get spillPath(): undefined {
    return undefined
  }

  write(data: string | Uint8Array): void {
    if (this.#finished) throw new Error('this stream has ended; write before the command exits')
    this.#bytes = Buffer.concat([this.#bytes, typeof data === 'string' ? Buffer.from(data) : data])
    this.#wake()
  }

  finish(): void {
    this.#finished = true
    this.#wake()
  }

  size(): number {
    return this.#bytes.length
  }

  earliest(): number {
    return 0
  }

  readFrom(byteOffset: number, maxBytes?: number): OutputRead {
    validateRead(byteOffset, maxBytes)
    const size = this.#bytes.length
    if (byteOffset >= size) return { text: '', startOffset: byteOffset, nextOffset: byteOffset, lossy: false }
    const start = this.#boundaryFrom(byteOffset)
    const wanted = Math.min(size, start + (maxBytes ?? size))
    const next = wanted === size && this.#finished ? size : this.#boundaryBefore(start, wanted)
    return { text: this.#bytes.toString('utf8', start, next), startOffset: start, nextOffset: next, lossy: false }
  }

  release(): void {}

  changed(afterOffset: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const look = (): void => {
        const grown = this.size() > afterOffset
        if (grown || this.#finished || signal.aborted) {
          signal.removeEventListener('abort', look)
          resolve(grown)
        } else this.#waiters.push(look)
      }
      signal.addEventListener('abort', look, { once: true })
      look()
    })
  }

  #wake(): void {
    for (const look of this.#waiters.splice(0)) look()
  }

  #isContinuation(index: number): boolean {
    return ((this.#bytes[index] ?? 0) & 0xc0) === 0x80
  }

  /** A start inside a character moves forward, by at most 3 bytes. */
  #boundaryFrom(offset: number): number {
    let start = offset
    while (start < offset + 3 && start < this.#bytes.length && this.#isContinuation(start)) start++
    return start
  }

  /** An incomplete last character is held back. */
  #boundaryBefore(start: number, end: number): number {
    for (let first = end - 1; first >= Math.max(start, end - 4); first--) {
      if (this.#isContinuation(first)) continue
      return first + lengthOf(this.#bytes[first] ?? 0) <= end ? end : first
    }
    return end
  }
}

function lengthOf(first: number): number {
  if (first >= 0xf0) return 4
  if (first >= 0xe0) return 3
  return first >= 0xc0 ? 2 : 1
}
