import type { JobOutcome, JobRun, JobSpec } from '@tenon/jobs'
import type { Shell, ShellExecution, ShellSpec } from '@tenon/shell'
import { outcomes } from './text.ts'

/** One command as the work of a job. The call's signal never reaches its process: only the registry ends it. */
export class CommandJob {
  /** Undefined while it is prepared, and for good if it could not be run. */
  execution: ShellExecution | undefined
  /** Why the command could not be run, or its result not be had. */
  failure: unknown
  /** The executor's: from defaults, call and cap. */
  readonly timeoutMs: number
  readonly #shell: Shell
  readonly #spec: ShellSpec
  readonly #preparation = new AbortController()
  readonly #prepared: Promise<ShellExecution | undefined>
  #announce: (execution: ShellExecution | undefined) => void = () => undefined
  #cancelled = false

  /** `resolve` may throw: then there is nothing to start. */
  constructor(shell: Shell, resolve: (signal: AbortSignal) => ShellSpec) {
    this.#shell = shell
    this.#spec = resolve(this.#preparation.signal)
    this.timeoutMs = this.#spec.timeoutMs
    this.#prepared = new Promise((announce) => {
      this.#announce = announce
    })
  }

  /** The handle once there is one, or undefined if there will be none. */
  get prepared(): Promise<ShellExecution | undefined> {
    return this.#prepared
  }

  /** For the registry, which calls it once. */
  run(job: Parameters<JobSpec['run']>[0]): JobRun {
    return { done: this.#perform(job.attach), cancel: () => this.#cancel() }
  }

  #cancel(): void {
    this.#cancelled = true
    if (this.execution === undefined) this.#preparation.abort(new Error('the job was cancelled'))
    else this.execution.kill()
  }

  async #perform(attach: Parameters<JobSpec['run']>[0]['attach']): Promise<JobOutcome> {
    try {
      const execution = await this.#prepare()
      if (execution === undefined) return { status: 'killed', outcome: outcomes.killedBeforeExit }
      const { stdout, stderr } = execution.observed
      attach({ channels: { stdout, stderr } })
      // An executor that did not notice the abort of its preparation.
      if (this.#cancelled) execution.kill()
      await execution.done
      return await outcomeOf(execution)
    } catch (error) {
      this.failure = error
      // Readers that cannot be attached leave a process behind that nobody could see or stop.
      this.execution?.kill()
      throw error
    } finally {
      this.#announce(this.execution)
    }
  }

  /** Undefined: cancelled before there was a process. */
  async #prepare(): Promise<ShellExecution | undefined> {
    try {
      this.execution = await this.#shell.execute(this.#spec)
    } catch (error) {
      if (this.#cancelled) return undefined
      throw error
    }
    this.#announce(this.execution)
    return this.execution
  }
}

/** @throws what kept the command from running */
async function outcomeOf(execution: ShellExecution): Promise<JobOutcome> {
  const { status, exitCode, signal, lost, sandbox } = execution
  if (lost === true) return { status: 'killed', outcome: outcomes.lost }
  // Only these can be failures of the infrastructure; asking every execution would make a text of every output.
  if ((exitCode === null && signal === null) || sandbox?.runnerFailed === true) await execution.result()
  if (status === 'killed') {
    const facts = { ...(exitCode === null ? {} : { exitCode }), ...(signal === null ? {} : { signal }) }
    return { status, outcome: signal === null ? outcomes.killedBeforeExit : outcomes.signal(signal), ...facts }
  }
  return { status: 'completed', outcome: outcomes.exitCode(exitCode ?? 0), exitCode: exitCode ?? 0 }
}
