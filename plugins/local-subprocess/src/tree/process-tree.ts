import type { ProcessIndex } from './process-index.ts'

/** One spawned tree, from its leader's start until nothing of it is left. */
export interface ProcessTree {
  /** The leader is reaped. A `probe` follows within the turn: who is younger than that is a stranger. */
  leaderEnded(): void
  /** Nobody will tell when the leader is reaped: it is looked for, until it is gone. */
  orphan(): void
  /** Asks, cheaply and at once, whether the tree could still be there; it leaves the live set if not. */
  probe(): void
  terminate(): void
  waitForExit(signal?: AbortSignal): Promise<boolean>
  survivors(): Promise<number>
  /** Whether somebody needs to know when the tree is gone, besides those who wait for its exit. Never keeps the host alive. */
  follow(wanted: boolean): void
  /** Nobody looks after it any more: who still waits hears false. */
  abandon(): void
  /** Everything at once, synchronously: the host is ending. */
  killNow(index: ProcessIndex | undefined): void
  /** Absence was observed: no signal and no probe any more. */
  readonly gone: boolean
  /** Members found last, for the report of what would not end. */
  readonly remaining: readonly number[]
}

export interface TreeEvents {
  /** The tree cannot be reached any more, or need not: it leaves the live set. */
  left(): void
  /** Absence was observed. Follows or implies `left`. */
  gone(): void
  /** An orphaned leader was seen to be gone. */
  leaderGone(): void
}
