import type { Logger } from '@tenon/kernel'
import type { Clock } from './clock.ts'
import type { JobsConfig } from './config.ts'
import type { Counters, KeptJobs } from './kept.ts'
import type { JobRecord, Owner } from './record.ts'
import { type Ending, settle } from './settlement.ts'
import { giveUp } from './stops.ts'
import { closeOwner } from './teardown.ts'

/** What one activation of the row brings: its config, its log, and its code for what happens later. */
export interface Activation {
  readonly config: JobsConfig
  readonly log: Logger
  readonly clock: Clock
  readonly counters: Counters
  /** The producer's promise has settled. */
  settle(jobs: KeptJobs, record: JobRecord, ending: Ending): void
  /** The stop budget is over. */
  giveUp(jobs: KeptJobs, record: JobRecord): void
  /** The session is closing. */
  closeOwner(jobs: KeptJobs, owner: Owner): void | Promise<void>
}

export function activationOf(config: JobsConfig, log: Logger, clock: Clock, counters: Counters): Activation {
  return { config, log, clock, counters, settle, giveUp, closeOwner }
}
