import { isUtf8 } from 'node:buffer'

const NEWLINE = 0x0a

export type MessageLine =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'too-long'; readonly bytes: number }
  /** With replacement characters a command would be another one. */
  | { readonly type: 'not-utf8' }

/** Cuts a byte stream into lines. Of a line over the bound nothing is kept but its length. */
export class MessageLines {
  #parts: Buffer[] = []
  #bytes = 0;

  /** Lines that end in this chunk; blank ones are left out. */
  *feed(chunk: Buffer, maxBytes: number): Generator<MessageLine> {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      this.#add(chunk.subarray(start, end), maxBytes)
      start = end + 1
      yield* this.rest(maxBytes)
    }
    this.#add(chunk.subarray(start), maxBytes)
  }

  /** What came after the last newline: also the end of the stream ends a line. */
  *rest(maxBytes: number): Generator<MessageLine> {
    const bytes = this.#bytes
    const line = Buffer.concat(this.#parts)
    const text = line.toString('utf8')
    this.#parts = []
    this.#bytes = 0
    if (bytes > maxBytes) yield { type: 'too-long', bytes }
    else if (!isUtf8(line)) yield { type: 'not-utf8' }
    else if (text.trim() !== '') yield { type: 'line', text }
  }

  #add(part: Buffer, maxBytes: number): void {
    this.#bytes += part.length
    if (this.#bytes > maxBytes) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }
}
