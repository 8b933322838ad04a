import { settledInTime } from '@tenon/announcer'
import { didYouMean, type Json, type JsonObject, type Reconciling, type Scope } from '@tenon/kernel'
import type { ToolRequest, ToolResult } from '@tenon/tools'
import { applyAfter } from './after.ts'
import { invalidArgument } from './argument-problems.ts'
import { perform } from './around.ts'
import { CallRun, type CallTools } from './call-run.ts'
import { CallAborted, CallSignal } from './call-signal.ts'
import type { Catalogue } from './catalogue.ts'
import { boundContent } from './content.ts'
import { decide } from './decide.ts'
import type { Definition, Validated } from './definition.ts'
import { badArguments, CallFault } from './faults.ts'
import { follow } from './in-flight.ts'
import { copyJson, NotJson } from './json-copy.ts'
import { isObject } from './json-schema.ts'
import type { KeptTools } from './kept.ts'
import { shape } from './shape.ts'
import { problems, text } from './text.ts'
import { describeThrown } from './thrown.ts'

/** Deep enough for any schema; shallow enough for whatever walks the arguments recursively. */
const MAX_ARGUMENT_DEPTH = 64

/** The thirteen steps of a call. Every fault is a result. */
export class Pipeline {
  readonly #kept: KeptTools
  readonly #catalogue: Catalogue
  readonly #reconciling: Reconciling
  readonly #host: CallTools

  constructor(kept: KeptTools, catalogue: Catalogue, reconciling: Reconciling, host: CallTools) {
    this.#kept = kept
    this.#catalogue = catalogue
    this.#reconciling = reconciling
    this.#host = host
  }

  /** Rejects with a TypeError for a request without session or signal, and with nothing else. */
  async execute(unread: ToolRequest): Promise<ToolResult> {
    const request = readRequest(unread)
    const id = request.id ?? `call-${++this.#kept.lastCall}`
    const abort = new CallSignal(this.#kept.aborts, [request.signal, request.session.scope.signal, this.#kept.ending.signal])
    const run = new CallRun(this.#host, request, id, request.name, abort)
    try {
      return await follow(this.#kept, request.session, this.#conduct(run, unread))
    } finally {
      run.ended = true
      abort.release()
    }
  }

  async #conduct(run: CallRun, request: ToolRequest): Promise<ToolResult> {
    let admitted: Admitted
    try {
      admitted = await this.#admit(run, request)
    } catch (error) {
      return this.#finish(run, failed(run, error, { dispatched: false }))
    }
    this.#kept.calls.emit(Object.freeze({ type: 'started', call: run.view }))
    return this.#finish(run, await this.#dispatch(run, admitted))
  }

  /** Steps 1 to 5: no policy takes part. */
  async #admit(run: CallRun, request: ToolRequest): Promise<Admitted> {
    const sent = readArguments(request, run)
    if (isObject(sent)) run.arguments = sent
    if (run.abort.aborted) throw new CallAborted()
    if (this.#reconciling.pending().length > 0) await this.#reconciled(run)
    const definition = this.#catalogue.visible(run.tool)
    if (definition === undefined) {
      throw new CallFault('TOOL_UNKNOWN', text.unknownTool(run.tool, didYouMean(run.tool, this.#catalogue.names())))
    }
    run.policies = this.#kept.policies
    return { definition, input: await validate(run, definition, sent) }
  }

  /** A tool that is visible when the time is over is called as it is: its row need not be the one that hangs. */
  async #reconciled(run: CallRun): Promise<void> {
    const { reconcileWaitMs } = run.config
    const settled = await settledInTime(this.#reconciling, run.abort.signal, reconcileWaitMs)
    if (run.abort.aborted) throw new CallAborted()
    const rows = settled ? [] : this.#reconciling.pending()
    if (rows.length > 0 && this.#catalogue.visible(run.tool) === undefined) {
      throw new CallFault('TOOL_UNAVAILABLE', text.unavailable(run.tool, rows, reconcileWaitMs), { details: { rows } })
    }
  }

  /** Steps 6 to 12. */
  async #dispatch(run: CallRun, { definition, input }: Admitted): Promise<ToolResult> {
    let result: ToolResult
    try {
      await decide(run)
      if (run.abort.aborted) throw new CallAborted()
      const outcome = await perform(run, definition, input, this.#kept.aborts)
      if (outcome.ok) {
        if (run.abort.aborted) throw new CallAborted()
        result = await shape(run, definition, outcome.value)
      } else {
        if (outcome.code === 'TOOL_ABORTED' && run.abort.aborted) return run.failure(outcome)
        result = run.failure(outcome)
      }
    } catch (error) {
      if (CallAborted.is(error)) return failed(run, error)
      result = failed(run, error)
    }
    try {
      const shown = await applyAfter(run, definition, result)
      return run.abort.aborted && !shown.isError ? failed(run, new CallAborted()) : shown
    } catch (error) {
      return failed(run, error)
    }
  }

  /** Step 13. */
  #finish(run: CallRun, result: ToolResult): ToolResult {
    const content = boundContent(result.content, run.config.maxContentBytes)
    const finished = content === result.content ? result : run.shownAs(result, content)
    this.#kept.calls.emit(Object.freeze({ type: 'finished', call: run.view, result: finished }))
    return finished
  }
}

interface Admitted {
  readonly definition: Definition
  readonly input: unknown
}

/** @throws TypeError */
function readRequest(request: unknown): ToolRequest {
  const { name, session, signal, id, parent, onProgress } = Object(request) as Partial<ToolRequest>
  const scope: unknown = session?.scope
  if (!(isLifetime(scope) && isSignal(scope.signal))) throw new TypeError('execute: the request has no session; open one with openSession')
  if (!isSignal(signal)) throw new TypeError('execute: the request has no signal; pass an AbortSignal')
  return {
    name: typeof name === 'string' ? name : `<${typeof name}>`,
    arguments: undefined,
    session: session as ToolRequest['session'],
    signal,
    ...(typeof id === 'string' ? { id } : {}),
    ...(typeof parent === 'string' ? { parent } : {}),
    ...(typeof onProgress === 'function' ? { onProgress: onProgress.bind(request) as NonNullable<ToolRequest['onProgress']> } : {}),
  }
}

function isLifetime(value: unknown): value is Pick<Scope, 'signal' | 'child'> {
  return typeof value === 'object' && value !== null && typeof (value as Partial<Scope>).child === 'function'
}

function isSignal(value: unknown): value is AbortSignal {
  return typeof value === 'object' && value !== null && typeof (value as Partial<AbortSignal>).addEventListener === 'function'
}

/** Step 1. @throws CallFault TOOL_ARGUMENTS */
function readArguments(request: ToolRequest, run: CallRun): Json {
  try {
    const sent: unknown = request.arguments
    return copyJson(sent === undefined ? {} : sent, {
      maxBytes: run.config.maxArgumentBytes,
      maxDepth: MAX_ARGUMENT_DEPTH,
      undefinedProperties: 'refuse',
      root: 'arguments',
    })
  } catch (error) {
    throw new CallFault('TOOL_ARGUMENTS', text.notJson(error instanceof NotJson ? error.message : problems.unreadable('it')), { cause: error })
  }
}

/** Step 5. @throws CallFault TOOL_ARGUMENTS, CallAborted */
async function validate(run: CallRun, definition: Definition, sent: Json): Promise<unknown> {
  let validated: Validated
  try {
    const validating = definition.validate(sent)
    validated = validating instanceof Promise ? await run.abort.race(validating) : validating
  } catch (error) {
    if (CallAborted.is(error)) throw error
    throw badArguments([invalidArgument([], describeThrown(error).message)])
  }
  if (validated.ok) return validated.input
  throw badArguments(validated.problems)
}

function failed(run: CallRun, error: unknown, whenAborted?: JsonObject): ToolResult {
  if (CallFault.is(error)) return run.failure(error)
  if (CallAborted.is(error)) {
    return run.failure({ code: 'TOOL_ABORTED', message: text.aborted, ...(whenAborted === undefined ? {} : { details: whenAborted }) })
  }
  // Not foreseen: a fault of this registry itself.
  run.log.error({ err: error, call: run.id, tool: run.tool }, `tool "${run.tool}" could not be called`)
  return run.failure({ code: 'TOOL_FAILED', message: describeThrown(error).message })
}
