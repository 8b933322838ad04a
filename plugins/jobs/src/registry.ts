import {
  type Caller,
  JobError,
  type JobEvent,
  type JobFollow,
  type JobId,
  type JobRead,
  type JobSpec,
  type Jobs,
  type JobView,
  type Offsets,
  type StopReason,
} from '@tenon/jobs'
import type { Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { attachController, whileControlled } from './admission.ts'
import { LEAST_READ_BYTES } from './channel.ts'
import { subscribe } from './events.ts'
import { Follower, type FollowOptions } from './follower.ts'
import { detach, promote } from './holds.ts'
import { viewOf } from './job-view.ts'
import type { KeptJobs } from './kept.ts'
import { claimNotice, sawTheEnd } from './notices.ts'
import { checkOffsets, cursorOf, readOf, readPage } from './output.ts'
import { isLive, type JobRecord } from './record.ts'
import { evict, removeRecord } from './retention.ts'
import { refuse } from './spec.ts'
import { start } from './starting.ts'
import { kill } from './stops.ts'
import { readTail } from './tail.ts'
import { text } from './text.ts'
import { type Waited, wait } from './waits.ts'

/** One activation's view of what the row keeps; one of an earlier activation keeps working. */
export class JobRegistry implements Jobs {
  readonly #jobs: KeptJobs

  constructor(jobs: KeptJobs) {
    this.#jobs = jobs
  }

  start(spec: JobSpec): JobId {
    if (this.#jobs.state !== 'open') throw closed()
    return start(this.#jobs, spec)
  }

  list(caller: Caller): readonly JobView[] {
    const jobs = this.#open()
    const owners = caller === 'host' ? [...jobs.owners.values()] : [jobs.owners.get(caller)]
    for (const owner of owners) if (owner !== undefined) evict(jobs, owner)
    const records = caller === 'host' ? jobs.records : jobs.owners.get(caller)?.jobs
    return Object.freeze([...(records?.values() ?? [])].map((record) => viewOf(jobs, record)))
  }

  get(id: JobId, caller: Caller): JobView {
    return viewOf(this.#jobs, this.#find(id, caller))
  }

  wait(id: JobId, timeoutMs: number, caller: Caller, signal?: AbortSignal): Promise<Waited> {
    try {
      return wait(this.#jobs, this.#find(id, caller), timeoutMs, caller, signal)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  detach(id: JobId, caller: Session): JobView {
    return detach(this.#jobs, this.#find(id, caller))
  }

  promote(id: JobId, caller: Caller): 'requested' | 'not-foreground' {
    return promote(this.#find(id, caller))
  }

  kill(id: JobId, caller: Caller, reason: StopReason): 'requested' | 'already-finished' {
    return kill(this.#jobs, this.#find(id, caller), reason)
  }

  remove(id: JobId, caller: Caller): void {
    const record = this.#find(id, caller)
    if (isLive(record)) throw new JobError('JOB_RUNNING', text.running(id))
    removeRecord(this.#jobs, record)
  }

  read(id: JobId, caller: Session, options: { readonly maxBytes?: number; readonly tailLines?: number } = {}): JobRead {
    const record = this.#find(id, caller)
    const { maxBytes = record.replyLimitBytes, tailLines } = options
    checkAtLeast('maxBytes', maxBytes, LEAST_READ_BYTES)
    if (tailLines !== undefined) checkAtLeast('tailLines', tailLines, 1)
    // First, so that the view that goes with the output tells of it.
    sawTheEnd(this.#jobs, record)
    if (tailLines !== undefined) return readTail(this.#jobs, record, tailLines, maxBytes)
    const from = cursorOf(record)
    const page = readPage(this.#jobs, record, from, maxBytes)
    for (const channel of record.channels) channel.cursor = page.next[channel.name] ?? channel.cursor
    return readOf(this.#jobs, record, from, page)
  }

  readAt(id: JobId, offsets: Offsets | 'unread', caller: Caller, maxBytes?: number): JobRead {
    const record = this.#find(id, caller)
    const most = maxBytes ?? record.replyLimitBytes
    checkAtLeast('maxBytes', most, LEAST_READ_BYTES)
    const from = offsets === 'unread' ? cursorOf(record) : checkOffsets(this.#jobs, record, offsets)
    return readOf(this.#jobs, record, from, readPage(this.#jobs, record, from, most))
  }

  follow(id: JobId, options: FollowOptions): AsyncIterable<JobFollow> {
    const record = this.#find(id, options.caller)
    checkOffsets(this.#jobs, record, options.from ?? {})
    return { [Symbol.asyncIterator]: () => new Follower(this.#jobs, record, options) }
  }

  subscribe(scope: Scope, filter: { readonly owner: Session } | 'all', listener: (event: JobEvent) => void): void {
    subscribe(this.#open(), scope, filter, listener)
  }

  attachController(scope: Scope, controller: { readonly name: string; serves?(session: Session): boolean }): void {
    attachController(this.#open(), scope, controller)
  }

  whileControlled(scope: Scope, body: (branch: Scope) => void): void {
    whileControlled(this.#open(), scope, body)
  }

  dueNotices(): readonly JobView[] {
    const jobs = this.#open()
    return Object.freeze([...jobs.due].map((record) => viewOf(jobs, record)))
  }

  claimNotice(id: JobId): boolean {
    return claimNotice(this.#jobs, this.#find(id, 'host'))
  }

  ownerOf(id: JobId): Session {
    return this.#find(id, 'host').owner.session
  }

  /** A registry that is ending can still be asked, until it has ended. */
  #open(): KeptJobs {
    if (this.#jobs.state === 'closed') throw closed()
    return this.#jobs
  }

  #find(id: JobId, caller: Caller): JobRecord {
    const record = this.#open().records.get(id)
    if (record === undefined) throw new JobError('JOB_UNKNOWN', text.unknown(id))
    if (caller !== 'host' && caller !== record.owner.session) throw new JobError('JOB_FOREIGN', text.foreign(record.id))
    return record
  }
}

function closed(): JobError {
  return new JobError('JOBS_CLOSED', text.closed)
}

function checkAtLeast(field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) refuse(field, `expected an integer of at least ${least}, got ${String(value)}`)
}
