import { announce } from './events.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import type { JobRecord, Owner } from './record.ts'

const UNCLAIMED_WARNING = 1_000

/** A call that has waited for the end of a job is about to read it, in its next step: a second is plenty. */
const READING_MS = 1_000

/** A job has settled: it counts from now on, and may be evicted as soon as nobody needs it any more. */
export function countSettled(jobs: KeptJobs, record: JobRecord): void {
  if (isFree(record)) makeEvictable(record)
  else warnOfUnclaimed(jobs, record.owner)
}

/** Its owner has read the end, its notice was sent, or its call has let go. */
export function claimed(record: JobRecord): void {
  if (record.finishedAt !== undefined && isFree(record) && !record.owner.evictable.includes(record)) makeEvictable(record)
}

/**
 * Removes the oldest settled records beyond the bound in number, and those beyond the bound in age, as far as they may go. Called when
 * something happens anyway: there is no timer.
 */
export function evict(jobs: KeptJobs, owner: Owner): void {
  if (owner.quiet !== undefined) return
  const { config, clock } = jobs.activation
  const now = clock.now()
  const isDue = ({ finishedMs }: JobRecord): boolean =>
    owner.jobs.size - owner.live.size > config.settledPerOwner || finishedMs <= now - config.settledMaxAgeMs
  if (owner.evictable[0] === undefined || !isDue(owner.evictable[0])) return
  // A copy: each removal is announced, and a listener may do what it likes.
  for (const record of [...owner.evictable]) {
    if (!isDue(record)) return
    const isBeingRead = record.released && !record.terminalRead && now - record.finishedMs < READING_MS
    if (!isBeingRead && owner.jobs.has(record.id)) removeRecord(jobs, record)
  }
}

/** The record goes, and with it the registry's hold on the readers. What they keep on disk stays: a result may have named it. */
export function removeRecord(jobs: KeptJobs, record: JobRecord): void {
  const { owner } = record
  const at = owner.evictable.indexOf(record)
  if (at >= 0) owner.evictable.splice(at, 1)
  owner.jobs.delete(record.id)
  jobs.records.delete(record.id)
  jobs.due.delete(record)
  announce(jobs, record, { type: 'removed', job: viewOf(jobs, record) })
}

function isFree({ held, notice, terminalRead }: JobRecord): boolean {
  return !held && (terminalRead || notice === 'sent' || notice === 'withheld')
}

/** Mostly the newest, so the place is found from the end. */
function makeEvictable(record: JobRecord): void {
  const { evictable } = record.owner
  let at = evictable.length
  while (at > 0 && (evictable[at - 1]?.settledNumber ?? 0) > record.settledNumber) at--
  evictable.splice(at, 0, record)
}

function warnOfUnclaimed(jobs: KeptJobs, owner: Owner): void {
  const unclaimed = owner.jobs.size - owner.live.size - owner.evictable.length
  if (unclaimed < UNCLAIMED_WARNING || owner.warnedOfUnclaimed) return
  owner.warnedOfUnclaimed = true
  const { id } = owner.session
  jobs.activation.log.warn({ session: id, unclaimed }, `session "${id}" has ${unclaimed} settled jobs that nobody was told of and nobody has read`)
}
