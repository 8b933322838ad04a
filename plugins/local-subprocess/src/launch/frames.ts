/** A frame is the length of its body in four bytes, most significant first, and the body: one message as JSON. */
const HEADER_BYTES = 4

/** The largest body either side takes: more than any system lets a program have as arguments and environment. */
export const FRAME_BYTES = 64 * 1_024 ** 2

/** Undefined when the message is too large to be sent. */
export function encodeFrame(message: object): Buffer | undefined {
  const text = JSON.stringify(message)
  const length = Buffer.byteLength(text)
  if (length > FRAME_BYTES) return undefined
  const frame = Buffer.allocUnsafe(HEADER_BYTES + length)
  frame.writeUInt32BE(length)
  frame.write(text, HEADER_BYTES)
  return frame
}

/** Puts frames together again, however they were cut. Holds no more than one frame and what came with it. */
export class FrameReader {
  readonly #largest: number
  #chunks: Buffer[] = []
  #bytes = 0

  /** @param largest body that is taken; anything larger is refused before it is held */
  constructor(largest = FRAME_BYTES) {
    this.#largest = largest
  }

  /** The messages that are complete now, as parsed JSON. @throws Error for a body that is too large, or no JSON */
  push(chunk: Buffer): unknown[] {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    const messages: unknown[] = []
    for (let length = this.#next(); length !== undefined; length = this.#next()) {
      const frame = this.#take(HEADER_BYTES + length)
      messages.push(JSON.parse(frame.toString('utf8', HEADER_BYTES)))
    }
    return messages
  }

  /** Length of the body of the next frame, once all of it is there. */
  #next(): number | undefined {
    if (this.#bytes < HEADER_BYTES) return undefined
    if ((this.#chunks[0]?.length ?? 0) < HEADER_BYTES) this.#chunks = [Buffer.concat(this.#chunks)]
    const length = this.#chunks[0]?.readUInt32BE() ?? 0
    if (length > this.#largest) throw new Error(`a frame of ${length} bytes, at most ${this.#largest} are taken`)
    return this.#bytes < HEADER_BYTES + length ? undefined : length
  }

  #take(bytes: number): Buffer {
    const whole = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    const rest = whole.subarray(bytes)
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
    return whole.subarray(0, bytes)
  }
}
