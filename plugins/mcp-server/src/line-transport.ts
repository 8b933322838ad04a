import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/sdk/types.js'
import { type Incoming, idOf, incoming, type LineRefusal, refusal } from './incoming.ts'
import { LineOutput } from './line-output.ts'
import { MessageLines } from './message-lines.ts'

export interface LineLimits {
  readonly maxMessageBytes: number
  /** How long requests in flight may go on to answer when the input has ended, in milliseconds. */
  readonly drainMs: number
}

/** So many are served in one turn: what they are answered then tells whether the client is behind. */
const PORTION = 16

/**
 * JSON-RPC, one message per line. Unlike the SDK's own stdio transport it answers what it cannot read, notices the end of its input, can be
 * paused, and writes past a `write` that somebody has put over the output's own. It reads on while it is paused, or nobody would notice that
 * the client has gone, and nothing would keep a process there that waits for it. What a client asks that is behind with reading waits, too: there
 * the output tells if it goes.
 */
export class LineTransport implements Transport {
  onmessage?: Transport['onmessage']
  onclose?: Transport['onclose']
  onerror?: Transport['onerror']
  limits: LineLimits
  readonly #input: Readable
  readonly #output: Writable
  readonly #lineOutput: LineOutput
  readonly #lines = new MessageLines()
  /** Requests that have no response yet: how many of each id, since a client may break the rule that ids are used once. */
  readonly #unanswered = new Map<RequestId, number>()
  /** Oldest first. */
  readonly #waiting = new Set<Incoming>()
  #waitingBytes = 0
  #phase: 'new' | 'reading' | 'draining' | 'closed' = 'new'
  /** The protocol listens. */
  #isStarted = false
  #isPaused = false
  /** Goes on in the next turn. */
  #resting: NodeJS.Immediate | undefined
  #draining: NodeJS.Timeout | undefined
  #closed: (() => void) | undefined

  constructor(input: Readable, output: Writable, limits: LineLimits) {
    this.#input = input
    this.#output = output
    this.#lineOutput = new LineOutput(output, () => this.#goOn())
    this.limits = limits
  }

  /** Reads from now on; messages wait for `start`. */
  listen(): void {
    if (this.#phase !== 'new') return
    this.#phase = 'reading'
    this.#input.on('data', this.#read)
    this.#input.on('end', this.#ended)
    this.#input.on('close', this.#ended)
    this.#input.on('error', this.#lost)
    this.#output.on('error', this.#lost)
    this.#input.resume()
    // An input that has ended before says nothing any more.
    if (this.#input.destroyed || this.#input.readableEnded) this.#ended()
  }

  async start(): Promise<void> {
    this.#isStarted = true
    this.listen()
    this.#goOn()
  }

  /** Messages wait, as many as one may be long; what comes beyond is refused. */
  pause(): void {
    this.#isPaused = true
    if (this.#draining === undefined) this.#drain()
  }

  resume(): void {
    this.#isPaused = false
    this.#goOn()
  }

  /** Resolves at once, unless the input has ended: then when the last answer is written or the time for it is over. */
  drained(): Promise<void> {
    if (this.#phase !== 'draining') return Promise.resolve()
    return new Promise((resolve) => {
      this.#closed = resolve
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#phase === 'closed') return
    const written = this.#lineOutput.send(message, this.limits.maxMessageBytes)
    if (!('method' in message) && message.id !== undefined) this.#answered(message.id)
    await written
  }

  /** The output's error listener stays: what was written last may still fail. */
  async close(): Promise<void> {
    if (this.#phase === 'closed') return
    this.#phase = 'closed'
    clearTimeout(this.#draining)
    clearImmediate(this.#resting)
    this.#waiting.clear()
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#ended)
    this.#input.off('close', this.#ended)
    this.#input.pause()
    this.#lineOutput.close()
    this.onclose?.()
    this.#closed?.()
  }

  readonly #read = (chunk: Buffer | string): void => {
    const { maxMessageBytes } = this.limits
    for (const line of this.#lines.feed(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, maxMessageBytes)) {
      this.#receive(incoming(line, maxMessageBytes))
    }
    this.#goOn()
  }

  readonly #ended = (): void => {
    if (this.#phase !== 'reading') return
    const { maxMessageBytes } = this.limits
    for (const line of this.#lines.rest(maxMessageBytes)) this.#receive(incoming(line, maxMessageBytes))
    this.#phase = 'draining'
    this.#goOn()
  }

  readonly #lost = (error: Error): void => {
    if (this.#phase === 'closed') return
    this.onerror?.(error)
    void this.close()
  }

  #receive(item: Incoming): void {
    if ('message' in item && this.#calledOff(item.message)) return
    const { maxMessageBytes } = this.limits
    const isBeyond = this.#waitingBytes + item.bytes > maxMessageBytes && this.#waiting.size > 0
    if (isBeyond && this.#isHeld) {
      const why = `the server is being changed, and up to ${maxMessageBytes} bytes wait for it: send this again`
      this.#refuse('message' in item ? refusal(ErrorCode.InternalError, why, idOf(item.message)) : item.refusal)
      return
    }
    this.#waiting.add(item)
    this.#waitingBytes += item.bytes
    if (isBeyond) this.#input.pause()
  }

  /** There is nobody to serve, and there is somebody to be told. */
  get #isHeld(): boolean {
    return (this.#isPaused || !this.#isStarted) && !this.#lineOutput.isBehind
  }

  get #isServed(): boolean {
    return this.#phase !== 'closed' && this.#isStarted && !this.#isPaused && !this.#lineOutput.isBehind
  }

  /** A cancellation waits for nothing; what it calls off may still wait itself. */
  #calledOff(message: JSONRPCMessage): boolean {
    if (!('method' in message) || message.method !== 'notifications/cancelled') return false
    const id = message.params?.requestId as RequestId
    for (const item of this.#waiting) {
      if (!('message' in item) || !('method' in item.message) || !('id' in item.message) || item.message.id !== id) continue
      this.#remove(item)
      return true
    }
    this.onmessage?.(message)
    // A cancelled request is not answered.
    this.#answered(id)
    return true
  }

  #remove(item: Incoming): void {
    this.#waiting.delete(item)
    this.#waitingBytes -= item.bytes
  }

  /** One by one: an answer to the first is not the last one as long as others wait. */
  #goOn(): void {
    if (this.#resting !== undefined) return
    let served = 0
    for (const item of this.#waiting) {
      if (!this.#isServed) break
      if (served++ === PORTION) {
        this.#resting = setImmediate(() => {
          this.#resting = undefined
          this.#goOn()
        })
        return
      }
      this.#remove(item)
      if ('message' in item) this.#deliver(item.message)
      else this.#refuse(item.refusal)
    }
    // Also where nobody is there to serve: the end of the input has to be seen.
    if (this.#phase === 'reading' && !this.#lineOutput.isBehind) this.#input.resume()
    this.#drain()
  }

  /** Who is about to start gets the whole time from then on; while the client is behind, the time is its own. */
  #drain(): void {
    if (this.#phase !== 'draining' || (!this.#isStarted && !this.#isPaused)) return
    clearTimeout(this.#draining)
    this.#draining = setTimeout(() => {
      if (!this.#lineOutput.isBehind) void this.close()
    }, this.limits.drainMs)
    this.#closeIfDrained()
  }

  #deliver(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) this.#unanswered.set(message.id, (this.#unanswered.get(message.id) ?? 0) + 1)
    this.onmessage?.(message)
  }

  #answered(id: RequestId): void {
    const left = (this.#unanswered.get(id) ?? 0) - 1
    if (left > 0) this.#unanswered.set(id, left)
    else this.#unanswered.delete(id)
    this.#closeIfDrained()
  }

  #closeIfDrained(): void {
    if (this.#phase === 'draining' && this.#unanswered.size + this.#waiting.size === 0) void this.close()
  }

  #refuse(answer: LineRefusal): void {
    this.onerror?.(new Error(answer.error.message))
    this.#lineOutput.send(answer, this.limits.maxMessageBytes).catch((error: unknown) => this.onerror?.(error as Error))
  }
}
