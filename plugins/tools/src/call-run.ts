import type { Json, JsonObject, Logger } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { CallView, Content, ToolCall, ToolRequest, ToolResult } from '@tenon/tools'
import { thenable } from './at-once.ts'
import type { CallSignal } from './call-signal.ts'
import type { ToolsConfig } from './config.ts'
import { boundMessage } from './content.ts'
import type { Fault } from './faults.ts'
import type { Approver, Policy } from './kept.ts'
import { text } from './text.ts'
import { describeThrown } from './thrown.ts'

const MAX_MESSAGE_BYTES = 4_096
const NO_ARGUMENTS: JsonObject = Object.freeze({})

/** What a call is run with, whatever becomes of it. */
export interface CallTools {
  readonly config: ToolsConfig
  readonly log: Logger
  /** Monotonic milliseconds. */
  now(): number
  /** Whoever can be asked at this moment. */
  approver(): Approver | undefined
  /** Resolves when no row is in transition, when the time for that is over, or at the abort. */
  rest(signal: AbortSignal): Promise<void>
}

/** One call on its way through the pipeline. */
export class CallRun {
  readonly id: string
  readonly tool: string
  readonly session: Session
  readonly abort: CallSignal
  readonly #host: CallTools
  readonly #request: ToolRequest
  readonly #parent: { readonly parent?: string }
  readonly #startedAt: number
  #view: CallView | undefined
  /** As sent, once they were read. */
  arguments: JsonObject = NO_ARGUMENTS
  /** Pinned for the whole call. */
  policies: readonly Policy[] = []
  ended = false

  constructor(host: CallTools, request: ToolRequest, id: string, tool: string, abort: CallSignal) {
    this.#host = host
    this.#request = request
    this.#startedAt = host.now()
    this.#parent = typeof request.parent === 'string' ? { parent: request.parent } : {}
    this.id = id
    this.tool = tool
    this.session = request.session
    this.abort = abort
  }

  get config(): ToolsConfig {
    return this.#host.config
  }

  get log(): Logger {
    return this.#host.log
  }

  get now(): () => number {
    return this.#host.now
  }

  get approver(): Approver | undefined {
    return this.#host.approver()
  }

  rest(): Promise<void> {
    return this.#host.rest(this.abort.signal)
  }

  /** For policies and observers; asked for after the arguments were read. */
  get view(): CallView {
    this.#view ??= Object.freeze({ ...this.#facts(), arguments: this.arguments, signal: this.abort.signal })
    return this.#view
  }

  /** For the body. */
  bodyCall(signal: AbortSignal): ToolCall {
    const progress = typeof this.#request.onProgress === 'function' ? { progress: (message: string) => this.#progress(message) } : {}
    return Object.freeze({ ...this.#facts(), signal, ...progress })
  }

  success(value: Json, content: readonly Content[]): ToolResult {
    return Object.freeze({ ...this.#outcomeFacts(), content, isError: false, value })
  }

  failure(fault: Fault, content?: readonly Content[]): ToolResult {
    const message = fault.code === 'TOOL_ABORTED' ? text.aborted : boundMessage(fault.message, MAX_MESSAGE_BYTES)
    const details = fault.details === undefined ? {} : { details: fault.details }
    const shown = content ?? Object.freeze([Object.freeze({ type: 'text', text: text.error(message) } as const)])
    return Object.freeze({ ...this.#outcomeFacts(), content: shown, isError: true, code: fault.code, message, ...details })
  }

  /** The same outcome, shown otherwise. */
  shownAs(result: ToolResult, content: readonly Content[]): ToolResult {
    return Object.freeze({ ...result, content, durationMs: this.#durationMs() })
  }

  #facts() {
    return { id: this.id, tool: this.tool, session: this.session, ...this.#parent }
  }

  #outcomeFacts() {
    return { callId: this.id, tool: this.tool, durationMs: this.#durationMs() }
  }

  #durationMs(): number {
    return Math.round(this.now() - this.#startedAt)
  }

  #progress(message: string): void {
    if (this.ended || typeof message !== 'string') return
    const failed = (error: unknown): void =>
      this.log.warn({ call: this.id, tool: this.tool }, `the listener of a call's progress failed: ${describeThrown(error).message}`)
    try {
      // An asynchronous function is assignable to it.
      const returned: unknown = this.#request.onProgress?.(message)
      thenable(returned)?.then(undefined, failed)
    } catch (error) {
      failed(error)
    }
  }
}
