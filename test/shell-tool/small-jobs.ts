import {
  type Caller,
  JobError,
  type JobEvent,
  type JobOutcome,
  type JobRead,
  type JobSpec,
  Jobs,
  type JobView,
  type Offsets,
  type OutputSource,
} from '@tenon/jobs'
import { definePlugin, Emitter, type Plugin, type Scope } from '@tenon/kernel'

interface Record_ {
  readonly spec: JobSpec
  readonly since: number
  view: JobView
  cancel: (reason: NonNullable<JobView['stop']>) => void
  source: OutputSource | undefined
  cursor: Record<string, number>
  waits: Set<(outcome: 'settled' | 'expired') => void>
}

/** As much of a job registry as the shell tools use, in memory: one session's rules, no limits but those a test sets. */
export class SmallJobs {
  readonly events: JobEvent[] = []
  /** What every start is refused with. */
  refusal: JobError | undefined
  readonly #records = new Map<string, Record_>()
  readonly #changes: Emitter<JobEvent> = new Emitter()
  #last = 0

  start(spec: JobSpec): string {
    if (this.refusal !== undefined) throw this.refusal
    const id = `${spec.kind}-${++this.#last}`
    const { label, detail = {}, attachment, owner, kind } = spec
    const view: JobView = {
      id,
      kind,
      label,
      owner: owner.id,
      attachment,
      detail,
      status: 'running',
      startedAt: Date.now(),
      durationMs: 0,
      output: {},
      notice: 'none',
      replyLimitBytes: 64_000,
    }
    const record: Record_ = { spec, since: performance.now(), view, cancel: () => undefined, source: undefined, cursor: {}, waits: new Set() }
    this.#records.set(id, record)
    const attach = (source: OutputSource): void => {
      record.source = source
    }
    const run = spec.run({ id, attach })
    record.cancel = (reason) => run.cancel(reason)
    this.#tell({ type: 'registered', job: view })
    run.done.then(
      (outcome) => this.#settle(record, outcome),
      (error: Error) => this.#settle(record, { status: 'failed', outcome: error.message }),
    )
    return id
  }

  /** As the registry does when a stop exceeds its budget. */
  settleAs(id: string, outcome: JobOutcome): void {
    this.#settle(this.#own(id, 'host'), outcome)
  }

  list(_caller: Caller): readonly JobView[] {
    return [...this.#records.values()].map((record) => this.#view(record))
  }

  get(id: string, caller: Caller): JobView {
    return this.#view(this.#own(id, caller))
  }

  wait(id: string, timeoutMs: number, caller: Caller, signal?: AbortSignal): Promise<{ outcome: 'settled' | 'expired'; job: JobView }> {
    const record = this.#own(id, caller)
    if (record.view.finishedAt !== undefined) return Promise.resolve({ outcome: 'settled', job: this.#view(record) })
    return new Promise((resolve, reject) => {
      const release = (outcome: 'settled' | 'expired'): void => {
        end()
        const job = this.#view(record)
        resolve({ outcome, job: outcome === 'settled' ? job : { ...job, durationMs: Math.round(performance.now() - record.since) } })
      }
      const abort = (): void => {
        end()
        reject(new JobError('JOB_WAIT_ABORTED', 'wait aborted'))
      }
      const timer = setTimeout(() => release('expired'), timeoutMs)
      const end = (): void => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        record.waits.delete(release)
      }
      record.waits.add(release)
      signal?.addEventListener('abort', abort)
      if (signal?.aborted === true) abort()
    })
  }

  detach(id: string, caller: Caller): JobView {
    const record = this.#own(id, caller)
    if (record.view.finishedAt === undefined && record.view.attachment === 'foreground') {
      this.#update(record, { attachment: 'detached' })
      this.#tell({ type: 'detached', job: this.#view(record) })
    }
    return this.#view(record)
  }

  promote(id: string, caller: Caller): 'requested' | 'not-foreground' {
    const record = this.#own(id, caller)
    if (record.view.attachment !== 'foreground' || record.view.finishedAt !== undefined) return 'not-foreground'
    for (const release of [...record.waits]) release('expired')
    return 'requested'
  }

  kill(id: string, caller: Caller, reason: NonNullable<JobView['stop']>): 'requested' | 'already-finished' {
    const record = this.#own(id, caller)
    if (record.view.finishedAt !== undefined) return 'already-finished'
    if (record.view.stop !== undefined) return 'requested'
    this.#update(record, { status: 'stopping', stop: reason })
    this.#tell({ type: 'stopping', job: this.#view(record) })
    record.cancel(reason)
    return 'requested'
  }

  remove(id: string, caller: Caller): void {
    const record = this.#own(id, caller)
    if (record.view.finishedAt === undefined) throw new JobError('JOB_RUNNING', `job ${id} is still running`)
    this.#records.delete(id)
    this.#tell({ type: 'removed', job: this.#view(record) })
  }

  read(id: string, caller: Caller): JobRead {
    const record = this.#own(id, caller)
    const from: Offsets = { ...record.cursor }
    const chunks = Object.entries(record.source?.channels ?? {}).map(([channel, reader]) => {
      const read = reader.readFrom(record.cursor[channel] ?? 0)
      record.cursor[channel] = read.nextOffset
      return { channel, at: read.startOffset, text: read.text, dropped: 0 }
    })
    return { job: this.#view(record), from, next: { ...record.cursor }, chunks: chunks.filter(({ text }) => text !== ''), unread: 0, skipped: 0 }
  }

  subscribe(scope: Scope, _filter: unknown, listener: (event: JobEvent) => void): void {
    this.#changes.on(scope, listener)
  }

  /** A row that provides it. */
  get plugin(): Plugin<undefined> {
    return definePlugin({ name: 'small-jobs', provides: [Jobs], activate: (scope) => scope.provide(Jobs, this as unknown as Jobs) })
  }

  /** Types of the events so far, `settled` with what it says of awaiting. */
  get story(): readonly string[] {
    return this.events.map((event) => (event.type === 'settled' ? `settled ${event.awaited ? 'awaited' : 'unawaited'}` : event.type))
  }

  #settle(record: Record_, outcome: JobOutcome): void {
    if (record.view.finishedAt !== undefined) return
    const { attachment, stop, detail } = record.view
    const text = stop === undefined || outcome.status !== 'killed' ? outcome.outcome : `${outcome.outcome}; ${stop.text}`
    const awaited = attachment === 'foreground' || record.waits.size > 0
    this.#update(record, {
      status: outcome.status,
      finishedAt: Date.now(),
      durationMs: Math.round(performance.now() - record.since),
      detail: { ...detail, ...(text === undefined ? {} : { outcome: text }) },
    })
    for (const release of [...record.waits]) release('settled')
    this.#tell({ type: 'settled', job: this.#view(record), awaited, cause: stop === undefined ? 'producer' : 'kill' })
  }

  #own(id: string, caller: Caller): Record_ {
    const record = this.#records.get(id)
    if (record === undefined) throw new JobError('JOB_UNKNOWN', `unknown job ${id}`)
    if (caller !== 'host' && caller !== record.spec.owner) throw new JobError('JOB_FOREIGN', `job ${id} belongs to another session`)
    return record
  }

  #view(record: Record_): JobView {
    const output = Object.fromEntries(
      Object.entries(record.source?.channels ?? {}).map(([name, reader]) => [name, { size: reader.size(), earliest: reader.earliest() }]),
    )
    return Object.freeze({ ...record.view, output })
  }

  #update(record: Record_, change: Partial<JobView>): void {
    record.view = { ...record.view, ...change }
  }

  #tell(event: JobEvent): void {
    this.events.push(event)
    this.#changes.emit(event)
  }
}
