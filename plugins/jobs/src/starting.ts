import { JobError, type JobId, type JobOutcome, type JobRun, type JobSpec, type OutputSource } from '@tenon/jobs'
import type { Session } from '@tenon/session'
import { assertAdmitted, assertServed } from './admission.ts'
import { openChannel } from './channel.ts'
import { announce } from './events.ts'
import { NO_OUTPUT, viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { isLive, type JobRecord, NONE, type Owner } from './record.ts'
import { evict } from './retention.ts'
import { failure, readOutcome, tellOfEnd } from './settlement.ts'
import { type CheckedSpec, checkRun, checkSpec, refuse } from './spec.ts'
import { passOn } from './stops.ts'
import { text } from './text.ts'
import { messageOf } from './thrown.ts'

/** Checks everything, then takes the id, inserts, runs, announces. A refused start leaves no trace. */
export function start(jobs: KeptJobs, spec: JobSpec): JobId {
  const { owner: session } = spec
  assertServed(jobs, session)
  const checked = checkSpec(spec, jobs.activation.config)
  if (typeof session?.scope?.defer !== 'function') refuse('owner', 'expected a session')
  if (session.scope.signal.aborted) throw new JobError('JOB_SESSION_CLOSED', text.sessionClosed(session.id))
  const known = jobs.owners.get(session)
  if (known !== undefined) evict(jobs, known)
  assertAdmitted(jobs, known, checked.attachment)
  const record = insert(jobs, known ?? openOwner(jobs, session), checked)
  const run = runProducer(jobs, record, spec)
  announceStart(jobs, record, run)
  return record.id
}

function openOwner(jobs: KeptJobs, session: Session): Owner {
  const owner: Owner = {
    session,
    life: session.scope.child('jobs'),
    jobs: new Map(),
    live: new Set(),
    evictable: [],
    followers: new Set(),
    warnedOfUnclaimed: false,
    quiet: undefined,
  }
  owner.life.defer(() => jobs.activation.closeOwner(jobs, owner))
  jobs.owners.set(session, owner)
  return owner
}

function insert(jobs: KeptJobs, owner: Owner, spec: CheckedSpec): JobRecord {
  const { clock, counters } = jobs.activation
  const number = (counters.get(spec.kind) ?? 0) + 1
  counters.set(spec.kind, number)
  // Without a spread: an object of that many properties made from one is a dictionary, eight times as large and slower to read.
  const record: JobRecord = {
    id: `${spec.kind}-${number}`,
    kind: spec.kind,
    label: spec.label,
    detail: spec.detail,
    attachment: spec.attachment,
    replyLimitBytes: spec.replyLimitBytes,
    stopBudgetMs: spec.stopBudgetMs,
    owner,
    startedAt: clock.epoch(),
    startedMs: clock.now(),
    heldEvents: [],
    run: undefined,
    status: 'running',
    held: spec.attachment === 'foreground',
    stop: undefined,
    teardown: false,
    stopDeadlineMs: 0,
    cancelStopTimer: undefined,
    attached: false,
    channels: NONE,
    output: NO_OUTPUT,
    warnedOfReader: false,
    waiters: NONE,
    followers: NONE,
    endings: NONE,
    finishedAt: undefined,
    finishedMs: 0,
    settledNumber: 0,
    notice: 'none',
    released: false,
    terminalRead: false,
  }
  jobs.records.set(record.id, record)
  owner.jobs.set(record.id, record)
  owner.live.add(record)
  return record
}

/** What `run()` throws is thrown, and there is no job: whoever has heard of it meanwhile hears that there is none. */
function runProducer(jobs: KeptJobs, record: JobRecord, spec: JobSpec): JobRun {
  try {
    const job = Object.freeze({ id: record.id, attach: (output: OutputSource) => attach(jobs, record, output) })
    return checkRun(spec.run(job))
  } catch (error) {
    record.status = 'failed'
    jobs.records.delete(record.id)
    record.owner.jobs.delete(record.id)
    record.owner.live.delete(record)
    for (const waiter of record.waiters) waiter.fail(new JobError('JOB_UNKNOWN', text.unknown(record.id)))
    for (const follower of record.followers) follower.gone()
    tellOfEnd(record)
    throw error
  }
}

/** `registered` first, then what happened while `run()` was on the stack, and then the stop that was asked for meanwhile. */
function announceStart(jobs: KeptJobs, record: JobRecord, run: JobRun): void {
  const { heldEvents = [], stop: early } = record
  record.run = run
  record.heldEvents = undefined
  void new Promise<JobOutcome>((resolve) => resolve(run.done)).then(
    (outcome) => jobs.activation.settle(jobs, record, readOutcome(outcome)),
    (error: unknown) => jobs.activation.settle(jobs, record, failure(error)),
  )
  announce(jobs, record, { type: 'registered', job: viewOf(jobs, record) })
  for (const event of heldEvents) if (event.type !== 'changed') announce(jobs, record, event)
  if (early === undefined) return
  try {
    passOn(jobs, record)
  } catch (error) {
    jobs.activation.log.warn({ job: record.id, err: error }, messageOf(error))
  }
}

/** It names the channel in what a model reads. */
const CHANNEL = /^[A-Za-z][A-Za-z0-9_-]{0,31}$/

function attach(jobs: KeptJobs, record: JobRecord, output: OutputSource): void {
  if (!isLive(record)) {
    jobs.activation.log.warn({ job: record.id }, `job ${record.id} had already settled: its output was attached too late and is not shown`)
    return
  }
  if (record.attached) refuse('output', 'it has been attached already')
  if (typeof output?.channels !== 'object' || output.channels === null) refuse('output.channels', 'expected readers by the name of their channel')
  for (const [name, reader] of Object.entries(output.channels)) {
    if (!CHANNEL.test(name)) refuse('output', `a channel matches ${CHANNEL.source}`)
    if (typeof reader?.readFrom !== 'function') refuse(`output.channels.${name}`, 'expected a reader')
  }
  record.attached = true
  record.channels = Object.entries(output.channels).map(([name, reader]) => openChannel(name, reader))
  for (const follower of record.followers) follower.attached()
}
