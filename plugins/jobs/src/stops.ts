import { JobError, type StopReason } from '@tenon/jobs'
import { announce } from './events.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { OUTCOME_CHARACTERS, oneLine, REASON_CHARACTERS } from './one-line.ts'
import { isLive, type JobRecord } from './record.ts'
import { settle } from './settlement.ts'
import { text } from './text.ts'
import { messageOf } from './thrown.ts'

/** How long a closing session or registry waits for its jobs at most: less than the kernel's budget for one undo. */
export const CLOSING_MS = 9_000

/** Asks the producer to stop, the first time. @throws JobError JOB_CANCEL_FAILED: nothing has changed */
export function kill(jobs: KeptJobs, record: JobRecord, reason: StopReason): 'requested' | 'already-finished' {
  if (!isLive(record)) return 'already-finished'
  if (record.stop !== undefined) return 'requested'
  record.stop = readReason(reason)
  // Within `run()` there is nobody to ask yet: `start` passes it on.
  if (record.run !== undefined) passOn(jobs, record)
  return 'requested'
}

/** Gives the producer the reason of the stop. @throws JobError JOB_CANCEL_FAILED, unless the job is being torn down: then it has failed */
export function passOn(jobs: KeptJobs, record: JobRecord): void {
  const { run, stop } = record
  if (run === undefined || stop === undefined) return
  try {
    const returned: unknown = run.cancel(stop)
    Promise.resolve(returned).catch((error: unknown) => warn(jobs, record, `job ${record.id}: its cancel was rejected: ${messageOf(error)}`, error))
  } catch (error) {
    refused(jobs, record, error)
    return
  }
  // A producer may end the session, and with it the job, from within its cancel.
  if (!isLive(record)) return
  record.status = 'stopping'
  arm(jobs, record)
  const job = viewOf(jobs, record)
  for (const follower of record.followers) follower.status(job)
  announce(jobs, record, { type: 'stopping', job })
}

/** The session or the registry ends: a job that is not stopping yet is asked to, and none gets longer than CLOSING_MS. */
export function tearDown(jobs: KeptJobs, record: JobRecord, reason: StopReason): void {
  record.teardown = true
  if (record.stop === undefined) {
    record.stop = readReason(reason)
    passOn(jobs, record)
  } else if (record.status === 'stopping') arm(jobs, record)
}

/** The stop budget is over. The producer's promise may be pending for ever: its slot and its waiters are freed all the same. */
export function giveUp(jobs: KeptJobs, record: JobRecord): void {
  warn(jobs, record, `job ${record.id} (${record.label}) did not stop within its budget; work may be orphaned`)
  settle(jobs, record, { status: 'failed', outcome: text.didNotStop, overran: true })
}

function refused(jobs: KeptJobs, record: JobRecord, error: unknown): void {
  const message = text.cancelFailed(record.id, oneLine(messageOf(error), OUTCOME_CHARACTERS))
  if (!isLive(record)) return
  if (!record.teardown) {
    record.stop = undefined
    throw new JobError('JOB_CANCEL_FAILED', message, { cause: error, details: { job: record.id } })
  }
  warn(jobs, record, message, error)
  settle(jobs, record, { status: 'failed', outcome: message })
}

function arm(jobs: KeptJobs, record: JobRecord): void {
  const { clock } = jobs.activation
  const now = clock.now()
  const first = record.cancelStopTimer === undefined
  record.cancelStopTimer?.()
  const ownMs = first ? record.stopBudgetMs : record.stopDeadlineMs - now
  const ms = Math.max(0, record.teardown ? Math.min(ownMs, CLOSING_MS) : ownMs)
  record.stopDeadlineMs = now + ms
  record.cancelStopTimer = clock.after(ms, () => jobs.activation.giveUp(jobs, record))
}

function readReason({ by, text: given }: StopReason): StopReason {
  const said = typeof given === 'string' ? oneLine(given, REASON_CHARACTERS) : ''
  return Object.freeze({ by, text: said === '' ? text.stopped[by] : said })
}

function warn(jobs: KeptJobs, { id, owner }: JobRecord, message: string, error?: unknown): void {
  jobs.activation.log.warn({ job: id, session: owner.session.id, ...(error === undefined ? {} : { err: error }) }, message)
}
