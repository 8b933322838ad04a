import type { JobDetail, JobEvent, JobOutcome, StopReason } from '@tenon/jobs'
import { openChannel, sizesOf } from './channel.ts'
import { announce } from './events.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { OUTCOME_CHARACTERS, oneLine } from './one-line.ts'
import { isLive, type JobRecord, NONE } from './record.ts'
import { countSettled, evict } from './retention.ts'
import { text } from './text.ts'
import { messageOf } from './thrown.ts'
import { ValueReader } from './value-reader.ts'
import { releaseWaiters } from './waits.ts'

/** How a job ends. */
export interface Ending extends JobOutcome {
  /** It did not stop within its budget. */
  readonly overran?: boolean
}

/** The channel of a final value. */
const RESULT = 'result'

/**
 * The one place where a job ends; the first ending wins. Commits the record, releases who waits, then announces.
 */
export function settle(jobs: KeptJobs, record: JobRecord, ending: Ending): void {
  const { log } = jobs.activation
  if (!isLive(record)) {
    log.info({ job: record.id, late: ending.status }, `job ${record.id} had already settled: ${ending.status} came too late`)
    return
  }
  const { owner } = record
  record.released = record.waiters.some(({ byOwner }) => byOwner)
  const awaited = record.held || record.released
  const cause = causeOf(record, ending)
  commitEnd(jobs, record, ending)
  record.notice = cause === 'teardown' || awaited || wasAskedByItsModel(record, ending) ? 'withheld' : 'due'
  owner.live.delete(record)
  if (record.notice === 'due') jobs.due.add(record)
  countSettled(jobs, record)

  releaseWaiters(record, 'settled')
  const job = viewOf(jobs, record)
  for (const follower of record.followers) follower.status(job)
  announce(jobs, record, { type: 'settled', job, awaited, cause })
  evict(jobs, owner)
  tellOfEnd(record)
}

/** Whoever waits for the record to be over goes on. */
export function tellOfEnd(record: JobRecord): void {
  const { endings } = record
  record.endings = NONE
  for (const ended of endings) ended()
}

/** What a producer's promise resolved to; nonsense is a failure. */
export function readOutcome(outcome: JobOutcome): Ending {
  try {
    const { status, outcome: said, exitCode, signal, value } = outcome
    if (!['completed', 'killed', 'failed'].includes(status)) return { status: 'failed', outcome: text.invalidOutcome }
    return {
      status,
      ...(typeof said === 'string' ? { outcome: said } : {}),
      ...(Number.isSafeInteger(exitCode) ? { exitCode: exitCode as number } : {}),
      ...(typeof signal === 'string' && signal !== '' ? { signal } : {}),
      ...(typeof value === 'string' ? { value } : {}),
    }
  } catch {
    return { status: 'failed', outcome: text.invalidOutcome }
  }
}

export function failure(thrown: unknown): Ending {
  return { status: 'failed', outcome: messageOf(thrown) }
}

function commitEnd(jobs: KeptJobs, record: JobRecord, ending: Ending): void {
  const { clock, log } = jobs.activation
  record.cancelStopTimer?.()
  record.cancelStopTimer = undefined
  record.run = undefined
  record.detail = Object.freeze({ ...record.detail, ...settledDetail(ending, record.stop) })
  record.finishedAt = clock.epoch()
  record.finishedMs = clock.now()
  record.settledNumber = ++jobs.lastSettledNumber
  if (ending.value !== undefined) {
    if (record.channels.some(({ name }) => name === RESULT))
      log.warn({ job: record.id }, `job ${record.id} has an output channel "result": its final value is dropped`)
    else record.channels = [...record.channels, openChannel(RESULT, new ValueReader(ending.value))]
  }
  for (const channel of record.channels) channel.settledSize = sizesOf(jobs, record, channel).size
  record.status = ending.status
}

function settledDetail(ending: Ending, stop: StopReason | undefined): JobDetail {
  const { exitCode, signal } = ending
  const outcome = outcomeText(ending, stop)
  return {
    ...(outcome === undefined ? {} : { outcome }),
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
  }
}

/** Of a killed job it ends with the reason: `signal: SIGTERM; cancelled by the user`. */
function outcomeText({ status, outcome = '' }: Ending, stop: StopReason | undefined): string | undefined {
  const said = oneLine(outcome, OUTCOME_CHARACTERS)
  const parts = status === 'killed' && stop !== undefined ? [said, stop.text] : [said]
  return parts.filter((part) => part !== '').join('; ') || undefined
}

function causeOf(record: JobRecord, { status }: Ending): (JobEvent & { type: 'settled' })['cause'] {
  if (record.teardown) return 'teardown'
  return record.stop !== undefined && status !== 'completed' ? 'kill' : 'producer'
}

/** Whoever asked for the stop knows of it; but not that a stop of the model's did not work. */
function wasAskedByItsModel({ stop }: JobRecord, { overran = false }: Ending): boolean {
  return stop?.by === 'call' || (stop?.by === 'model' && !overran)
}
