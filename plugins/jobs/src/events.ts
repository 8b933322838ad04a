import type { JobEvent } from '@tenon/jobs'
import type { Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { KeptJobs } from './kept.ts'
import type { JobRecord, Owner } from './record.ts'

type NamedEvent = Exclude<JobEvent, { type: 'changed' }>

/** Announces what has been committed. While the producer's `run()` is on the stack, it is kept until `registered` has been announced. */
export function announce(jobs: KeptJobs, record: JobRecord, event: NamedEvent): void {
  if (record.heldEvents !== undefined) {
    record.heldEvents.push(event)
    return
  }
  announceChange(jobs, record.owner, event)
}

/** Announces that what `list()` shows has changed, and what it was. */
export function announceChange(jobs: KeptJobs, { session }: Owner, event?: NamedEvent): void {
  enqueue(jobs, session, { type: 'changed', owner: session.id })
  if (event !== undefined) enqueue(jobs, session, event)
  emitQueued(jobs)
}

/** @throws KernelError SCOPE_CLOSED */
export function subscribe(jobs: KeptJobs, scope: Scope, filter: { readonly owner: Session } | 'all', listener: (event: JobEvent) => void): void {
  const { lastEventNumber } = jobs
  jobs.events.on(scope, ({ event, session, number }) => {
    // What was committed before it came is not for it, though it may still be in the queue.
    if (number <= lastEventNumber || (filter !== 'all' && filter.owner !== session)) return undefined
    return listener(event)
  })
}

function enqueue(jobs: KeptJobs, session: Session, event: JobEvent): void {
  jobs.queue.push({ event: Object.freeze(event), session, number: ++jobs.lastEventNumber })
}

/** A verb that a listener calls commits at once; its events wait for their turn, so everybody hears all in one order. */
function emitQueued(jobs: KeptJobs): void {
  if (jobs.emitting) return
  jobs.emitting = true
  try {
    for (let next = jobs.queue.shift(); next !== undefined; next = jobs.queue.shift()) jobs.events.emit(next)
  } finally {
    jobs.emitting = false
  }
}
