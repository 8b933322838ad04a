import type { Session } from '@tenon/session'
import type { JobId } from './job-view.ts'
import type { OutputSource } from './output.ts'

/** `text`: one line, at most 200 characters, shown to whoever waits for the job. */
export interface StopReason {
  readonly by: 'model' | 'call' | 'human' | 'host'
  readonly text: string
}

export interface JobSpec {
  /** `^[a-z][a-z0-9-]{0,31}$` */
  readonly kind: string
  /** Not blank; the registry keeps its first line. */
  readonly label: string
  readonly detail?: { readonly command?: string; readonly description?: string }
  readonly owner: Session
  /** `foreground`: a call holds the job and waits for it, until it removes or detaches it. */
  readonly attachment: 'foreground' | 'detached'
  /** Most bytes of model text about this job in one reply. Integer 256..1,000,000. */
  readonly replyLimitBytes?: number
  /** Milliseconds from a stop to `failed: did not stop`. A producer that knows its grace period passes grace + 5,000. Integer 1..2,147,483,647. */
  readonly stopBudgetMs?: number
  /** Called once, synchronously, after every check. What it throws, `start` rethrows, and there is no job. `attach` works once. */
  run(job: { readonly id: JobId; attach(output: OutputSource): void }): JobRun
}

export interface JobRun {
  /** May be called once, with the first reason. Must only ask: `done` tells when the work has ended. */
  cancel(reason: StopReason): void
  /** A rejection reads as failed, with its message. */
  readonly done: Promise<JobOutcome>
}

export interface JobOutcome {
  readonly status: 'completed' | 'killed' | 'failed'
  /** One line: `exit code: 1`, `signal: SIGTERM`. */
  readonly outcome?: string
  /** Of a program that exited: the fact that `outcome` puts in words. An integer. */
  readonly exitCode?: number
  /** Of a program that died by a signal: its name, `SIGTERM`. */
  readonly signal?: string
  /** Of a producer with a final output: becomes the ended channel `result`. */
  readonly value?: string
}
