import { capability, type Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { JobEvent, JobFollow } from './events.ts'
import type { JobSpec, StopReason } from './job-spec.ts'
import type { Caller, JobId, JobView } from './job-view.ts'
import type { JobRead, Offsets } from './output.ts'

/**
 * One registry for work that may outlive the call that began it. Records, cursors, waits and listeners survive the reload of every
 * plugin, the registry's own included; a value from an earlier activation keeps working.
 *
 * Verbs with an id throw JOB_UNKNOWN, and JOB_FOREIGN for another session's job; every verb throws JOBS_CLOSED after the registry ended.
 * Times are integer milliseconds, sizes UTF-8 bytes.
 */
export interface Jobs {
  /**
   * Any plugin with a session in hand. A refused start calls nothing, announces nothing and burns no id. Checked in this order:
   * @throws JobError JOB_NO_CONTROLLER, JOB_SPEC_INVALID, JOB_SESSION_CLOSED, JOB_LIMIT_DETACHED, JOB_LIMIT_TOTAL
   */
  start(spec: JobSpec): JobId
  /** A session's own jobs in start order; `'host'`: all. */
  list(caller: Caller): readonly JobView[]
  get(id: JobId, caller: Caller): JobView
  /**
   * The terminal view, or `expired` with the live one; 0 polls. Integer 0..2,147,483,647. Never throws: every refusal is a rejection, also
   * JOB_TIMEOUT_INVALID, and JOB_WAIT_ABORTED, after which the job lives on.
   */
  wait(
    id: JobId,
    timeoutMs: number,
    caller: Caller,
    signal?: AbortSignal,
  ): Promise<{ readonly outcome: 'settled' | 'expired'; readonly job: JobView }>
  /** The foreground holder lets go. A live view: the job is detached now, and only then may a call say so. Or the terminal view. */
  detach(id: JobId, caller: Session): JobView
  /** Ends the waits on a foreground job as if they had expired. */
  promote(id: JobId, caller: Caller): 'requested' | 'not-foreground'
  /** Forwards the first reason; a repeated kill is `requested` and changes nothing. @throws JobError JOB_CANCEL_FAILED: the status is as it was */
  kill(id: JobId, caller: Caller, reason: StopReason): 'requested' | 'already-finished'
  /** Settled jobs only. @throws JobError JOB_RUNNING */
  remove(id: JobId, caller: Caller): void
  /**
   * Consuming: moves the model's cursor. `maxBytes` of text (at least 4) is by default the job's reply limit. `tailLines`: the last lines
   * that are retained, whether they have been read or not. For the owner's job tools.
   * @throws JobError JOB_SPEC_INVALID for a `maxBytes` or `tailLines` out of range
   */
  read(id: JobId, caller: Session, options?: { readonly maxBytes?: number; readonly tailLines?: number }): JobRead
  /** Moves nothing. `'unread'`: from where the model's next read begins. @throws JobError JOB_OFFSET_INVALID, JOB_SPEC_INVALID */
  readAt(id: JobId, offsets: Offsets | 'unread', caller: Caller, maxBytes?: number): JobRead
  /** Pushed: an unfollowed job asks no reader. A slow follower gets later chunks whose `dropped` says what it missed. */
  follow(id: JobId, options: { readonly caller: Caller; readonly from?: Offsets; readonly signal?: AbortSignal }): AsyncIterable<JobFollow>
  /** Events in commit order. `{ owner }` is that very session. */
  subscribe(scope: Scope, filter: { readonly owner: Session } | 'all', listener: (event: JobEvent) => void): void
  /**
   * A controller promises: the model of each session it serves (default: all) can list, read and stop jobs, and is told of completions.
   * Without one, no job starts.
   */
  attachController(scope: Scope, controller: { readonly name: string; serves?(session: Session): boolean }): void
  /**
   * For what only makes sense where jobs can start: runs `body` at once, or as soon as there is a controller, with a scope that ends when the
   * last one leaves, or the registry ends; and so again. Asks nobody whom it serves. What `body` throws at once is thrown, what it throws
   * later is reported to the scope; its branch is closed either way.
   */
  whileControlled(scope: Scope, body: (branch: Scope) => void): void
  /** Settled, unawaited, nobody told yet. For authors of notices. */
  dueNotices(): readonly JobView[]
  /** True exactly once per due notice: claiming precedes delivery. */
  claimNotice(id: JobId): boolean
  /** Whom to tell: a view names its owner, but identity is the instance. For authors of notices. */
  ownerOf(id: JobId): Session
}
export const Jobs = capability<Jobs>('jobs')
