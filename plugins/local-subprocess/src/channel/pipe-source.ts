import type { Readable } from 'node:stream'
import type { Capture } from '../output/capture.ts'
import type { Source } from './fifo-source.ts'

/** Turns of the event loop without data after which a pipe counts as drained: one may have begun before the exit was seen. */
const QUIET_TURNS = 2

/** Reads a pipe that Node made, where there are no FIFOs. */
export class PipeSource implements Source {
  readonly #stream: Readable & { unref?(): unknown }
  readonly #capture: Capture
  #bytes = 0

  constructor(stream: Readable, capture: Capture) {
    this.#stream = stream
    this.#capture = capture
    capture.onRoom = () => stream.resume()
    stream.on('data', (chunk: Buffer) => {
      this.#bytes += chunk.length
      try {
        if (!capture.append(chunk)) stream.pause()
      } catch (error) {
        stream.destroy(error instanceof Error ? error : new Error(String(error)))
      }
    })
    stream.once('error', (error: Error) => capture.end(error.message))
    stream.once('close', () => capture.end())
  }

  /** It does by itself. */
  listen(): void {}

  /** Each turn of the loop reads whatever is there, so a few turns without data say that nothing was left. */
  async drain(): Promise<void> {
    this.#stream.resume()
    const most = this.#bytes + 1_048_576
    for (let quiet = 0; quiet < QUIET_TURNS && !this.#stream.closed && this.#bytes < most; ) {
      const before = this.#bytes
      await new Promise((resolve) => setImmediate(resolve))
      quiet = this.#bytes === before ? quiet + 1 : 0
    }
  }

  detach(): void {
    this.#stream.unref?.()
  }

  close(): void {
    this.#stream.destroy()
    this.#capture.end()
  }
}
