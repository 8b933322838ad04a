import { type SandboxFacts, ShellError, type ShellExecution, type ShellRead, type ShellResult, shellResult } from '@tenon/shell'
import type { ExitFacts, OutputReader, SubprocessHandle } from '@tenon/subprocess'
import { captureText } from './collected-text.ts'
import { type ConfinedOutcome, rankedFacts } from './confinement.ts'
import { ConsumingRead } from './consuming-read.ts'
import type { Cause, FirstCause } from './first-cause.ts'
import { fixedReader } from './fixed-reader.ts'
import type { Aftermath } from './preparation.ts'

/** What an execution is told at its start; it keeps nothing of the executor that started it but this. */
export interface ExecutionTerms {
  readonly shell: string
  readonly timeoutMs: number
  readonly stdoutMaxBytes: number
  readonly stderrMaxBytes: number
  now(): number
  warn(error: unknown, what: string): void
}

/**
 * The handle of one command. Exactly one of `run`, `neverRan` and `failedToStart` is called, once, by the executor; from there on it
 * depends on its process alone, so it outlives the executor's reload with its deadline.
 */
export class LocalExecution implements ShellExecution {
  status: 'running' | 'completed' | 'killed' = 'running'
  exitCode: number | null = null
  signal: NodeJS.Signals | null = null
  declare lost?: true
  declare sandbox?: SandboxFacts
  readonly done: Promise<void>
  readonly #terms: ExecutionTerms
  readonly #startedAt: number
  readonly #consuming: ConsumingRead
  #observed: { readonly stdout: OutputReader; readonly stderr: OutputReader } = { stdout: fixedReader(''), stderr: fixedReader('') }
  #process: SubprocessHandle | undefined
  #cause: FirstCause | undefined
  #settle: () => void = () => undefined
  #project: () => ShellResult = () => {
    throw new Error('unreachable: the projection is made before done settles')
  }
  #result: Promise<ShellResult> | undefined

  constructor(terms: ExecutionTerms) {
    this.#terms = terms
    this.#startedAt = terms.now()
    this.#consuming = new ConsumingRead(terms.stdoutMaxBytes, terms.stderrMaxBytes)
    this.done = new Promise((resolve) => {
      this.#settle = resolve
    })
  }

  get observed(): { readonly stdout: OutputReader; readonly stderr: OutputReader } {
    return this.#observed
  }

  get elapsedMs(): number {
    return this.#terms.now() - this.#startedAt
  }

  readOutput(): ShellRead {
    return this.#consuming.next(this.#observed)
  }

  kill(): boolean {
    return this.#cause?.record('kill') ?? false
  }

  async survivors(): Promise<number> {
    return this.#process?.survivors() ?? 0
  }

  result(): Promise<ShellResult> {
    if (this.#result === undefined) {
      this.#result = this.done.then(() => this.#project())
      this.#result.catch(() => undefined)
    }
    return this.#result
  }

  /** Takes over a process; resolves at once, or with the settlement where nothing was started. */
  async run(started: SubprocessHandle, cause: FirstCause, aftermath: Aftermath): Promise<this> {
    this.#process = started
    this.#cause = cause
    if (aftermath.facts !== undefined) this.sandbox = aftermath.facts
    const { stdout, stderr } = started.output
    if (stdout !== undefined && stderr !== undefined) this.#observed = { stdout, stderr }
    cause.onRecorded(() => started.terminate())
    started.done.then(
      (exit) => this.#end(exit, cause, aftermath),
      (error: unknown) => this.#neverStarted(error, cause, aftermath),
    )
    if (!(await started.started)) await this.done
    return this
  }

  /** The first cause came before there was a process. */
  neverRan(cause: Cause): this {
    const facts = this.#facts({ exitCode: null, signal: null }, cause)
    this.#project = () => shellResult(facts())
    this.#settleAs('killed')
    return this
  }

  async failedToStart(error: unknown, cause: FirstCause, aftermath?: Aftermath): Promise<this> {
    cause.close()
    const spawnError = raisedByPlatform(error)
    const message = spawnError instanceof Error ? spawnError.message : String(spawnError)
    this.#observed = { stdout: fixedReader(''), stderr: fixedReader(`spawn failed: ${message}`) }
    const detail = this.#classify({ spawnError, stderrTail: '', aborted: cause.recorded === 'abort' }, aftermath)
    const failure =
      this.#runnerFailure(detail, spawnError) ??
      new ShellError('SHELL_SPAWN', `the ${this.#terms.shell} process could not be started: ${message}`, { cause: spawnError })
    this.#project = () => {
      throw failure
    }
    await aftermath?.release()
    this.#settleAs('killed')
    return this
  }

  async #neverStarted(error: unknown, cause: FirstCause, aftermath: Aftermath): Promise<void> {
    const { recorded } = cause
    if (recorded === undefined || (error as { code?: unknown }).code !== 'ABORTED_BEFORE_SPAWN') {
      await this.failedToStart(error, cause, aftermath)
      return
    }
    cause.close()
    await aftermath.release()
    this.neverRan(recorded)
  }

  /** The shell has exited. Children it left behind are not waited for, and what they write from here on is not in the result. */
  async #end(exit: ExitFacts, cause: FirstCause, aftermath: Aftermath): Promise<void> {
    cause.close()
    const facts = this.#facts(exit, cause.recorded)
    const stderrTail = aftermath.classify === undefined ? '' : facts().stderr.text
    const detail = this.#classify({ exit, stderrTail, aborted: cause.recorded === 'abort' }, aftermath)
    const failure = this.#runnerFailure(detail)
    this.#project = () => {
      if (failure !== undefined) throw failure
      return shellResult(facts())
    }
    const released = aftermath.release()
    if (released !== undefined) await released
    if (exit.lost === true) this.lost = true
    this.exitCode = exit.exitCode
    this.signal = exit.signal
    this.#settleAs(cause.recorded === undefined && exit.exitCode !== null ? 'completed' : 'killed')
  }

  #settleAs(status: 'completed' | 'killed'): void {
    this.status = status
    this.#settle()
  }

  /** Offsets and duration are those of now; text is decoded when asked for. */
  #facts(exit: ExitFacts, cause: Cause | undefined): () => ShellResult {
    const { timeoutMs, stdoutMaxBytes, stderrMaxBytes, now } = this.#terms
    const durationMs = now() - this.#startedAt
    const stdout = captureText(this.#observed.stdout, stdoutMaxBytes)
    const stderr = captureText(this.#observed.stderr, stderrMaxBytes)
    return () => ({
      exitCode: exit.exitCode,
      signal: exit.signal,
      ...(exit.lost === true && { lost: true }),
      timedOut: cause === 'deadline',
      aborted: cause === 'abort',
      timeoutMs,
      durationMs,
      stdout: stdout(),
      stderr: stderr(),
      ...(this.sandbox !== undefined && { sandbox: this.sandbox }),
    })
  }

  /** Puts the final sandbox facts on the handle; what a sandbox says in addition is returned. */
  #classify(outcome: ConfinedOutcome, aftermath: Aftermath | undefined): string | undefined {
    if (aftermath?.classify === undefined) return undefined
    try {
      const { facts, detail } = aftermath.classify(outcome)
      this.sandbox = rankedFacts(facts, outcome)
      return detail
    } catch (error) {
      this.#terms.warn(error, 'a sandbox failed to classify the end of a command')
      return undefined
    }
  }

  #runnerFailure(detail: string | undefined, cause?: unknown): ShellError | undefined {
    if (this.sandbox?.runnerFailed !== true) return undefined
    const what = `the sandbox runner failed under ${this.sandbox.mode} mode and the command did not run`
    return new ShellError('SANDBOX_UNAVAILABLE', detail === undefined ? what : `${what}: ${detail}`, cause === undefined ? {} : { cause })
  }
}

/** What the platform raised, without the error of the layer between. */
export function raisedByPlatform(error: unknown): unknown {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  return code === 'SPAWN_FAILED' && cause !== undefined ? cause : error
}
