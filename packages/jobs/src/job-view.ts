import type { Session, SessionId } from '@tenon/session'
import type { StopReason } from './job-spec.ts'

/** `<kind>-<n>`, counted per kind and never reused while the row is loaded. */
export type JobId = string

/** running → stopping → completed, killed or failed; or straight to the end. The first terminal outcome wins. */
export type JobStatus = 'running' | 'stopping' | 'completed' | 'killed' | 'failed'

/** A session reaches its own jobs only. `'host'` is a trusted control surface acting for a person; a tool must never pass it. */
export type Caller = Session | 'host'

/** What is known of the work itself, as far as its producer told. */
export interface JobDetail {
  readonly command?: string
  readonly description?: string
  /** Of a settled job, in words; of a killed one it ends with the reason. Programs look at the status, and at the next two. */
  readonly outcome?: string
  /** Of a program that exited. A command that failed has `completed` all the same, with a code that is not 0. */
  readonly exitCode?: number
  /** Of a program that died by a signal, whoever sent it. */
  readonly signal?: string
}

/** Frozen plain data; a later change gives a new view. */
export interface JobView {
  readonly id: JobId
  readonly kind: string
  /** First line that is not blank, control characters as spaces, at most 120 characters with `…`. The whole is `detail.command`. */
  readonly label: string
  readonly owner: SessionId
  readonly attachment: 'foreground' | 'detached'
  readonly status: JobStatus
  readonly detail: JobDetail
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** Epoch milliseconds. Present exactly when the status is terminal. */
  readonly finishedAt?: number
  /** Monotonic milliseconds: not affected by a change of the clock. */
  readonly durationMs: number
  /** Per channel, in bytes. */
  readonly output: Readonly<Record<string, { readonly size: number; readonly earliest: number; readonly spillPath?: string }>>
  /** The first one asked for. */
  readonly stop?: StopReason
  readonly notice: 'none' | 'due' | 'sent' | 'withheld'
  /** Most bytes of model text about this job in one reply. */
  readonly replyLimitBytes: number
}
