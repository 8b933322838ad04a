import { Writable } from 'node:stream'

/** Say that something is not as it was, and not what: one of them says as much as many. */
const CHANGE = /\/(list_changed|updated)$/

/**
 * Lines for a client, which reads them when it likes. One that has left much unread is behind until it has read everything: whoever goes on
 * answering it then fills the memory.
 */
export class LineOutput {
  readonly #stream: Writable
  readonly #caughtUp: () => void
  /** Lines that wait until it has caught up. */
  readonly #held = new Set<string>()
  #isBehind = false

  constructor(stream: Writable, caughtUp: () => void) {
    this.#stream = stream
    this.#caughtUp = caughtUp
  }

  get isBehind(): boolean {
    return this.#isBehind
  }

  /** Resolves when it is written, or need not be; past a `write` that somebody has put over the stream's own. */
  send(message: object, maxUnreadBytes: number): Promise<void> {
    const line = `${JSON.stringify(message)}\n`
    const method = 'method' in message ? String(message.method) : ''
    if (this.#isBehind && CHANGE.test(method)) {
      this.#held.add(line)
      return Promise.resolve()
    }
    // What a client reads of it later is long past.
    if (this.#isBehind && method === 'notifications/progress') return Promise.resolve()
    return this.#write(line, maxUnreadBytes)
  }

  close(): void {
    this.#stream.off('drain', this.#drained)
    this.#held.clear()
  }

  #write(line: string, maxUnreadBytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      Writable.prototype.write.call(this.#stream, line, 'utf8', (error) => (error ? reject(error) : resolve()))
      const { writableLength, writableNeedDrain } = this.#stream
      // Of less than it holds anyway a stream does not tell when it has been read.
      if (this.#isBehind || writableLength <= maxUnreadBytes || !writableNeedDrain) return
      this.#isBehind = true
      this.#stream.once('drain', this.#drained)
    })
  }

  readonly #drained = (): void => {
    this.#isBehind = false
    // Bounded by the number of things that can change.
    for (const line of this.#held) this.#write(line, Number.POSITIVE_INFINITY).catch(() => undefined)
    this.#held.clear()
    this.#caughtUp()
  }
}
