import type { Session, SessionId } from '@tenon/session'
import type { StopReason } from './job-spec.ts'

/** `<kind>-<n>`, counted per kind and never reused while the row is loaded. */
export type JobId = string

/** running → stopping → completed, killed or failed; or straight to the end. The first terminal outcome wins. */
export type JobStatus = 'running' | 'stopping' | 'completed' | 'killed' | 'failed'

/** A session reaches its own jobs only. `'host'` is a trusted control surface acting for a person; a tool must never pass it. */
export type Caller = Session | 'host'

/** Frozen plain data; a later change gives a new view. */
export interface JobView {
  readonly id: JobId
  readonly kind: string
  /** First line that is not blank, control characters as spaces, at most 120 characters with `…`. The whole is `detail.command`. */
  readonly label: string
  readonly owner: SessionId
  readonly attachment: 'foreground' | 'detached'
  readonly status: JobStatus
  /** `outcome`: of a settled job, what the producer said; of a killed one it ends with the reason. */
  readonly detail: { readonly command?: string; readonly description?: string; readonly outcome?: string }
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
