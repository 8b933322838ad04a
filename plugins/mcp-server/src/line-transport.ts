import type { Readable, Writable } from 'node:stream'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema, type RequestId } from '@modelcontextprotocol/sdk/types.js'
import { LineOutput } from './line-output.ts'
import { type MessageLine, MessageLines } from './message-lines.ts'

export interface LineLimits {
  readonly maxMessageBytes: number
  /** How long requests in flight may go on to answer when the input has ended, in milliseconds. */
  readonly drainMs: number
}

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
  /** Came while nobody could be told. */
  #waiting: JSONRPCMessage[] = []
  #waitingBytes = 0
  #phase: 'new' | 'reading' | 'draining' | 'closed' = 'new'
  /** The protocol listens. */
  #isStarted = false
  #isPaused = false
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
    this.#waiting = []
    this.#input.off('data', this.#read)
    this.#input.off('end', this.#ended)
    this.#input.off('close', this.#ended)
    this.#input.pause()
    this.#lineOutput.close()
    this.onclose?.()
    this.#closed?.()
  }

  readonly #read = (chunk: Buffer | string): void => {
    for (const line of this.#lines.feed(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, this.limits.maxMessageBytes)) this.#take(line)
  }

  readonly #ended = (): void => {
    if (this.#phase !== 'reading') return
    for (const line of this.#lines.rest(this.limits.maxMessageBytes)) this.#take(line)
    this.#phase = 'draining'
    this.#drain()
  }

  readonly #lost = (error: Error): void => {
    if (this.#phase === 'closed') return
    this.onerror?.(error)
    void this.close()
  }

  #take(line: MessageLine): void {
    if (this.#phase === 'closed') return
    if (line.type === 'too-long') {
      const bound = `a message has at most ${this.limits.maxMessageBytes} bytes, this one has ${line.bytes}`
      this.#refuse(ErrorCode.InvalidRequest, bound)
      return
    }
    if (line.type === 'not-utf8') {
      this.#refuse(ErrorCode.ParseError, 'Parse error: the line is not UTF-8')
      return
    }
    let value: unknown
    try {
      value = JSON.parse(line.text)
    } catch (error) {
      this.#refuse(ErrorCode.ParseError, `Parse error: ${(error as Error).message}`)
      return
    }
    const parsed = JSONRPCMessageSchema.safeParse(value)
    if (parsed.success) this.#receive(parsed.data, Buffer.byteLength(line.text))
    else if (Array.isArray(value)) this.#refuse(ErrorCode.InvalidRequest, 'Invalid Request: batches are not served, send one message per line')
    else this.#refuse(ErrorCode.InvalidRequest, 'Invalid Request: not a JSON-RPC 2.0 message', idOf(value))
  }

  get #isServed(): boolean {
    return this.#isStarted && !this.#isPaused && !this.#lineOutput.isBehind
  }

  #receive(message: JSONRPCMessage, bytes: number): void {
    const { maxMessageBytes } = this.limits
    const hasRoom = this.#waitingBytes + bytes <= maxMessageBytes
    if (this.#isServed) this.#deliver(message)
    else if (hasRoom || this.#lineOutput.isBehind) {
      this.#waiting.push(message)
      this.#waitingBytes += bytes
      if (!hasRoom) this.#input.pause()
    } else {
      const why = `the server is being changed, and up to ${maxMessageBytes} bytes wait for it: send this again`
      this.#refuse(ErrorCode.InternalError, why, idOf(message))
    }
  }

  #goOn(): void {
    if (!this.#isServed || this.#phase === 'closed') return
    this.#waitingBytes = 0
    // One by one: an answer to the first is not the last one as long as others wait.
    for (let message = this.#waiting.shift(); message !== undefined; message = this.#waiting.shift()) this.#deliver(message)
    if (this.#phase === 'reading') this.#input.resume()
    this.#drain()
  }

  /** Who is about to start gets the whole time from then on. */
  #drain(): void {
    if (this.#phase !== 'draining' || (!this.#isStarted && !this.#isPaused)) return
    clearTimeout(this.#draining)
    this.#draining = setTimeout(() => void this.close(), this.limits.drainMs)
    this.#closeIfDrained()
  }

  #deliver(message: JSONRPCMessage): void {
    if ('method' in message && 'id' in message) this.#unanswered.set(message.id, (this.#unanswered.get(message.id) ?? 0) + 1)
    this.onmessage?.(message)
    // A cancelled request is not answered.
    if ('method' in message && message.method === 'notifications/cancelled') this.#answered(message.params?.requestId as RequestId)
  }

  #answered(id: RequestId): void {
    const left = (this.#unanswered.get(id) ?? 0) - 1
    if (left > 0) this.#unanswered.set(id, left)
    else this.#unanswered.delete(id)
    this.#closeIfDrained()
  }

  #closeIfDrained(): void {
    if (this.#phase === 'draining' && this.#unanswered.size + this.#waiting.length === 0) void this.close()
  }

  #refuse(code: ErrorCode, message: string, id: RequestId | null = null): void {
    this.onerror?.(new Error(message))
    const refusal = { jsonrpc: '2.0', id, error: { code, message } }
    this.#lineOutput.send(refusal, this.limits.maxMessageBytes).catch((error: unknown) => this.onerror?.(error as Error))
  }
}

function idOf(value: unknown): RequestId | null {
  const id = typeof value === 'object' && value !== null && 'id' in value ? value.id : null
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as RequestId) : null
}
