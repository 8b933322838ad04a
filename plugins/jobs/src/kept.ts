import { AbortHub } from '@tenon/abort-hub'
import type { JobEvent, JobId } from '@tenon/jobs'
import { Emitter, type KeepSpec } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { Activation } from './activation.ts'
import type { JobRecord, Owner } from './record.ts'
import { closeRegistry } from './teardown.ts'

export interface Controller {
  readonly name: string
  serves(session: Session): boolean
}

/** One event on its way to the listeners. */
export interface Committed {
  readonly event: JobEvent
  readonly session: Session
  readonly number: number
}

/**
 * What outlives a reload of the row: records, waits, cursors, listeners and the hooks in the sessions. Data only; each activation puts
 * its own code over it, and timers and promises call the code of the newest.
 */
export interface KeptJobs {
  activation: Activation
  state: 'open' | 'closing' | 'closed'
  /** In start order. */
  readonly records: Map<JobId, JobRecord>
  readonly owners: Map<Session, Owner>
  controllers: readonly Controller[]
  /** One came or left. */
  readonly controllersChanged: Emitter<void>
  /** Settled, and nobody has been told. */
  readonly due: Set<JobRecord>
  lastSettledNumber: number
  readonly events: Emitter<Committed>
  readonly queue: Committed[]
  emitting: boolean
  lastEventNumber: number
  readonly aborts: AbortHub
}

/** Of the shape of what is kept, records included. Raise it with a `migrate`, or live jobs end with the reload. */
const FORMAT = 1

/** Per kind the number of the last job. Under a key and a version of its own for good: ids outlive every change of the records. */
export type Counters = Map<string, number>

export const keptCounters: KeepSpec<Counters> = {
  key: 'job-counters',
  version: 1,
  create: () => new Map(),
  dispose: () => undefined,
}

export function keptJobs(activation: Activation, change: Partial<Pick<KeepSpec<KeptJobs>, 'version' | 'migrate'>> = {}): KeepSpec<KeptJobs> {
  return {
    key: 'jobs',
    version: FORMAT,
    create: () => ({
      activation,
      state: 'open',
      records: new Map(),
      owners: new Map(),
      controllers: [],
      controllersChanged: new Emitter<void>(),
      due: new Set(),
      lastSettledNumber: 0,
      events: new Emitter<Committed>(),
      queue: [],
      emitting: false,
      lastEventNumber: 0,
      aborts: new AbortHub(),
    }),
    dispose: closeRegistry,
    ...change,
  }
}
