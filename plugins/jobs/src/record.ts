import type { ChannelReader, JobEvent, JobId, JobRun, JobStatus, JobView, StopReason } from '@tenon/jobs'
import type { Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'

/** One session that has had a job. */
export interface Owner {
  readonly session: Session
  /** Ends with the session: the one hook the registry has there. A child, so that an ended registry leaves nothing behind. */
  readonly life: Scope
  /** In start order. */
  readonly jobs: Map<JobId, JobRecord>
  /** Running and stopping. */
  readonly live: Set<JobRecord>
  /** Settled ones that may be evicted, in the order in which they settled. */
  readonly evictable: JobRecord[]
  /** Followers of this session: each call ends one. */
  readonly followers: Set<() => void>
  warnedOfUnclaimed: boolean
  /** Set when its end has begun. */
  quiet: Promise<void> | undefined
}

/** One stream of a job's output. */
export interface Channel {
  readonly name: string
  readonly reader: ChannelReader
  /** How far the model has read. */
  cursor: number
  /** As of the last time the reader could tell. Frozen, and the same object while it tells the same. */
  sizes: JobView['output'][string]
  /** Size at the settlement of the job; undefined before. */
  settledSize: number | undefined
}

export interface Waiter {
  /** Waits in the owner's name, not in that of the host. */
  readonly byOwner: boolean
  end(outcome: 'settled' | 'expired'): void
  fail(error: Error): void
}

/** What a follower is told; output it hears of from the readers. */
export interface Listening {
  /** The status has changed. */
  status(job: JobView): void
  /** The output has been attached. */
  attached(): void
  /** There is no such job after all. */
  gone(): void
}

/** One job. Plain data and the producer's handles: every activation of the row works on it with its own code. */
export interface JobRecord {
  readonly id: JobId
  readonly kind: string
  readonly label: string
  /** Frozen; with the outcome from the settlement on. */
  detail: JobView['detail']
  readonly owner: Owner
  readonly replyLimitBytes: number
  readonly stopBudgetMs: number
  /** Epoch. */
  readonly startedAt: number
  /** Monotonic. */
  readonly startedMs: number
  /** While the producer's `run()` is on the stack: events that follow `registered`. */
  heldEvents: JobEvent[] | undefined
  /** From the return of `run()` to the settlement. */
  run: JobRun | undefined
  status: JobStatus
  attachment: 'foreground' | 'detached'
  /** A call has to let go of it: by `detach`, or by removing it. */
  held: boolean
  /** The first one. While the status is still `running`, the producer has not been told yet or has not answered. */
  stop: StopReason | undefined
  /** Its session or the registry is ending. */
  teardown: boolean
  /** Monotonic; the end of the stop budget. */
  stopDeadlineMs: number
  cancelStopTimer: (() => void) | undefined
  attached: boolean
  /** In the order in which they are rendered. Replaced, never changed. */
  channels: readonly Channel[]
  /** Of the last view, for the next one. */
  output: JobView['output']
  warnedOfReader: boolean
  /** These three are replaced, never changed: most jobs have none. */
  waiters: readonly Waiter[]
  followers: readonly Listening[]
  /** Called at the settlement, and if there is no such job after all. */
  endings: readonly (() => void)[]
  finishedAt: number | undefined
  finishedMs: number
  /** Order of settlement. */
  settledNumber: number
  notice: JobView['notice']
  /** The settlement has released a wait of the owner. */
  released: boolean
  /** The owner has read the terminal state. */
  terminalRead: boolean
}

export const NONE: readonly never[] = Object.freeze([])

export function isLive({ status }: JobRecord): boolean {
  return status === 'running' || status === 'stopping'
}
