import type { StopReason } from '@tenon/jobs'
import type { KeptJobs } from './kept.ts'
import type { JobRecord, Owner } from './record.ts'
import { removeRecord } from './retention.ts'
import { tearDown } from './stops.ts'
import { text } from './text.ts'

/** The session closes: its live jobs are stopped together and waited for, then its records go. Ends within the stop budgets. */
export function closeOwner(jobs: KeptJobs, owner: Owner, why: string = text.sessionClosing): void | Promise<void> {
  if (owner.session.scope.signal.aborted) for (const end of [...owner.followers]) end()
  if (owner.quiet === undefined && owner.live.size === 0) {
    owner.quiet = Promise.resolve()
    forget(jobs, owner)
    return undefined
  }
  owner.quiet ??= endJobs(jobs, owner, Object.freeze({ by: 'host', text: why }))
  return owner.quiet
}

/** The row is unloaded, or its kernel closes: no job starts any more, all end. Afterwards the registry is silent. */
export async function closeRegistry(jobs: KeptJobs): Promise<void> {
  jobs.state = 'closing'
  // Nothing starts any more: what is only there while jobs can start goes first.
  jobs.controllers = []
  jobs.controllersChanged.emit()
  const owners = [...jobs.owners.values()]
  await Promise.all(owners.map(async (owner) => closeOwner(jobs, owner, text.closed)))
  jobs.state = 'closed'
  // The sessions live on without a trace of the registry.
  await Promise.all(owners.map(({ life }) => life.close()))
}

async function endJobs(jobs: KeptJobs, owner: Owner, reason: StopReason): Promise<void> {
  const live = [...owner.live]
  const ended = live.map(endOf)
  for (const record of live) tearDown(jobs, record, reason)
  // Who waits for a job goes on first and can still read it.
  await Promise.all(ended)
  forget(jobs, owner)
}

function endOf(record: JobRecord): Promise<void> {
  return new Promise((resolve) => {
    record.endings = [...record.endings, resolve]
  })
}

function forget(jobs: KeptJobs, owner: Owner): void {
  for (const record of [...owner.jobs.values()]) removeRecord(jobs, record)
  jobs.owners.delete(owner.session)
}
