import type { JobView } from '@tenon/jobs'
import { announce } from './events.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { isLive, type JobRecord } from './record.ts'
import { claimed } from './retention.ts'
import { releaseWaiters } from './waits.ts'

/** The call that holds the job lets go: a live job runs on in the background from here, a settled one is the call's to report. */
export function detach(jobs: KeptJobs, record: JobRecord): JobView {
  const wasHeld = record.held
  record.held = false
  if (!isLive(record)) {
    claimed(record)
    return viewOf(jobs, record)
  }
  record.attachment = 'detached'
  const job = viewOf(jobs, record)
  if (wasHeld) announce(jobs, record, { type: 'detached', job })
  return job
}

/** Ends the waits on a job that a call holds: the call finds them expired, and lets go. */
export function promote(record: JobRecord): 'requested' | 'not-foreground' {
  if (!isLive(record) || !record.held) return 'not-foreground'
  releaseWaiters(record, 'expired')
  return 'requested'
}
