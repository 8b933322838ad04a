import { type JobId, type Jobs, type JobView, renderJobOutput } from '@tenon/jobs'
import { type ToolCall, ToolError } from '@tenon/tools'
import { commandAborted } from './abort-details.ts'
import type { CommandJob } from './command-job.ts'
import { reportProgress } from './progress.ts'
import { aborted, failedWithoutWords, timedOutInPreparation } from './text.ts'
import { type ForegroundValue, foregroundValue, neverRan, type ShellToolValue } from './value.ts'

/** Beyond its bound a call waits so long for the handle of a command that may have begun already, in milliseconds. */
const HANDLE_MS = 1_000

/** How long a cancelled call waits for the last words of its job, in milliseconds. */
const ABORT_DRAIN_MS = 1_000

/** A call that holds its job in the foreground: it waits, and leaves the job removed or detached, whichever way it ends. */
export class Hold {
  readonly #jobs: Jobs
  readonly #id: JobId
  readonly #job: CommandJob
  readonly #call: ToolCall
  #detached = false

  constructor(jobs: Jobs, id: JobId, job: CommandJob, call: ToolCall) {
    this.#jobs = jobs
    this.#id = id
    this.#job = job
    this.#call = call
  }

  async value(): Promise<ShellToolValue> {
    const stopProgress = this.#reportProgress()
    try {
      return await this.#wait()
    } finally {
      stopProgress()
      this.#letGo()
    }
  }

  async #wait(): Promise<ShellToolValue> {
    const { session, signal } = this.#call
    let waited: Awaited<ReturnType<Jobs['wait']>>
    try {
      waited = await this.#jobs.wait(this.#id, this.#job.timeoutMs, session, signal)
    } catch (error) {
      if (!signal.aborted) throw error
      await this.#stop(aborted)
      throw commandAborted(this.#job.execution)
    }
    return waited.outcome === 'settled' ? this.#settled(waited.job) : this.#expired(waited.job)
  }

  /** The bound is over, or a person does not want the call to wait any longer. */
  async #expired({ durationMs }: JobView): Promise<ShellToolValue> {
    const { session } = this.#call
    // A timer may fire a millisecond early: that much less is still the bound, not a person.
    const timeoutMs = durationMs + 1 >= this.#job.timeoutMs ? this.#job.timeoutMs : Math.round(durationMs)
    if (this.#job.execution === undefined && timeoutMs === this.#job.timeoutMs) {
      await this.#handle()
      if (this.#job.execution === undefined) {
        await this.#stop(timedOutInPreparation)
        // One that began in that very moment has a signal and an output, which are told.
        if (this.#job.execution === undefined) return neverRan({ timedOut: true, timeoutMs, durationMs })
        return this.#settled(this.#jobs.get(this.#id, session))
      }
    }
    const view = this.#jobs.detach(this.#id, session)
    if (view.finishedAt !== undefined) return this.#settled(view)
    this.#detached = true
    const output = renderJobOutput(this.#jobs.read(this.#id, session))
    return { kind: 'promoted', jobId: this.#id, timeoutMs, output: output === '' || output.endsWith('\n') ? output : `${output}\n` }
  }

  /** To start a process takes its time too, and what has begun is not stopped. */
  async #handle(): Promise<void> {
    const { session, signal } = this.#call
    const over = new AbortController()
    const abort = (): void => over.abort()
    signal.addEventListener('abort', abort, { once: true })
    // It is aborted, or the session or the registry is closing: what comes next meets with that.
    const waiting = this.#jobs.wait(this.#id, HANDLE_MS, session, over.signal).catch(() => undefined)
    await Promise.race([this.#job.prepared.catch(() => undefined), waiting])
    signal.removeEventListener('abort', abort)
    abort()
    if (!signal.aborted) return
    await this.#stop(aborted)
    throw commandAborted(this.#job.execution)
  }

  async #settled(view: JobView): Promise<ForegroundValue> {
    const { execution, failure } = this.#job
    if (failure !== undefined) throw failure
    // It did not stop within its budget: there is no result to wait for.
    if (view.status === 'failed') throw new ToolError('TOOL_FAILED', view.detail.outcome ?? failedWithoutWords)
    const stopped = view.status === 'killed' ? view.stop?.text : undefined
    if (execution === undefined) {
      return neverRan({ timedOut: false, timeoutMs: this.#job.timeoutMs, durationMs: view.durationMs }, stopped)
    }
    return foregroundValue(await execution.result(), stopped)
  }

  /** Asks the job to stop and gives it a moment to settle. */
  async #stop(text: string): Promise<void> {
    const { session } = this.#call
    try {
      this.#jobs.kill(this.#id, session, { by: 'call', text })
      await this.#jobs.wait(this.#id, ABORT_DRAIN_MS, session)
    } catch {
      // The session or the registry is closing and does the same, or the producer refuses to stop: the registry has logged it.
    }
  }

  #letGo(): void {
    if (this.#detached) return
    const { session } = this.#call
    try {
      this.#jobs.remove(this.#id, session)
    } catch {
      try {
        this.#jobs.detach(this.#id, session)
      } catch {
        // Gone with its session or its registry.
      }
    }
  }

  #reportProgress(): () => void {
    const { progress } = this.#call
    if (progress === undefined) return () => undefined
    let stop: (() => void) | undefined
    let over = false
    void this.#job.prepared.then((execution) => {
      if (execution !== undefined && !over) stop = reportProgress(execution, progress)
    })
    return () => {
      over = true
      stop?.()
    }
  }
}
