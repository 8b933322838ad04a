import { JobError, Jobs, type StopReason } from '@tenon/jobs'
import { type Producer, settled } from '@tenon/jobs/conformance'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jobsPlugin } from '../src/plugin.ts'
import { isLive, Model, type ModelJob, type ModelWait, STOP_BUDGET_MS } from './model.ts'
import { byCall, model as byModel, human, type Opened, openJobs } from './opened.ts'

type Step =
  | { readonly do: 'start'; readonly attachment: 'foreground' | 'detached' }
  | { readonly do: 'write'; readonly job: number; readonly text: string }
  | { readonly do: 'end'; readonly job: number; readonly status: 'completed' | 'killed' | 'failed' }
  | { readonly do: 'wait'; readonly job: number; readonly ms: number; readonly byOwner: boolean }
  | { readonly do: 'abort'; readonly wait: number }
  | { readonly do: 'kill'; readonly job: number; readonly reason: StopReason }
  | { readonly do: 'detach' | 'promote' | 'remove'; readonly job: number }
  | { readonly do: 'read'; readonly job: number; readonly maxBytes: number }
  | { readonly do: 'advance'; readonly ms: number }
  | { readonly do: 'flush' | 'notify' | 'reload' | 'reconfigure' }

const job = fc.nat(7)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('start' as const), attachment: fc.constantFrom('foreground' as const, 'detached' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const), job, text: fc.string({ unit: 'binary', maxLength: 8 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('end' as const),
      job,
      status: fc.constantFrom('completed' as const, 'killed' as const, 'failed' as const),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), job, ms: fc.constantFrom(0, 1, 20, STOP_BUDGET_MS, 200), byOwner: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('abort' as const), wait: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('kill' as const), job, reason: fc.constantFrom<StopReason>(human, byModel, byCall) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('detach' as const, 'promote' as const, 'remove' as const), job }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('read' as const), job, maxBytes: fc.constantFrom(4, 7, 64_000) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.constantFrom(1, 19, 20, STOP_BUDGET_MS, 500) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'notify' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('reload' as const, 'reconfigure' as const) }) },
)

/** Plays the same steps on the registry and on the model, and compares what can be seen after each. */
class Play {
  readonly #app: Opened
  readonly #model = new Model()
  readonly #producers = new Map<ModelJob, Producer>()
  readonly #read = new Map<ModelJob, string>()
  readonly #followed = new Map<ModelJob, Promise<string>>()
  readonly #controllers = new Map<ModelWait, AbortController>()
  readonly #results: { readonly wait: ModelWait; readonly result: Promise<string> }[] = []
  readonly #notices = new Map<string, number>()
  #configs = 0

  constructor(app: Opened) {
    this.#app = app
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      // Nothing is awaited that need not be: what happens in one tick is part of the schedule.
      const slow = this.#take(step)
      if (slow !== undefined) await slow
      this.#compare()
    }
    await this.#finish()
  }

  #take(step: Step): Promise<void> | undefined {
    const { jobs, session, clock } = this.#app
    const job = 'job' in step ? this.#model.jobs[step.job] : undefined
    if ('job' in step && job === undefined) return undefined
    const on = job as ModelJob
    if (on?.removed) {
      expect(() => jobs.get(on.id, 'host')).toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
      return undefined
    }
    switch (step.do) {
      case 'start':
        if (this.#model.jobs.length < 8) this.#start(step.attachment)
        return undefined
      case 'write':
        on.written += Buffer.from(step.text).toString()
        this.#producers.get(on)?.stdout.write(step.text)
        return undefined
      case 'end':
        on.said ??= { status: step.status }
        void this.#producers.get(on)?.end({ status: step.status })
        return undefined
      case 'wait':
        this.#wait(on, step.ms, step.byOwner)
        return undefined
      case 'abort': {
        const wait = this.#model.waits[step.wait]
        if (wait === undefined) return undefined
        this.#model.abort(wait)
        this.#controllers.get(wait)?.abort()
        return undefined
      }
      case 'kill':
        expect(jobs.kill(on.id, 'host', step.reason)).toBe(this.#model.kill(on, step.reason))
        return undefined
      case 'detach':
        this.#model.detach(on)
        jobs.detach(on.id, session)
        return undefined
      case 'promote':
        expect(jobs.promote(on.id, 'host')).toBe(this.#model.promote(on))
        return undefined
      case 'remove':
        if (isLive(on)) expect(() => jobs.remove(on.id, session)).toThrow(JobError)
        else {
          this.#readAll(on)
          jobs.remove(on.id, session)
          on.removed = true
        }
        return undefined
      case 'read':
        this.#readOnce(on, step.maxBytes)
        return undefined
      case 'advance':
        this.#model.advance(step.ms)
        clock.advance(step.ms)
        return undefined
      case 'flush':
        return this.#flush()
      case 'notify':
        this.#notify()
        return undefined
      case 'reload':
      case 'reconfigure':
        return this.#flush().then(() => this.#reload(step.do))
    }
  }

  #start(attachment: 'foreground' | 'detached'): void {
    const producer = this.#app.start({ attachment, stopBudgetMs: STOP_BUDGET_MS })
    const job = this.#model.start(producer.id, attachment)
    this.#producers.set(job, producer)
    this.#read.set(job, '')
    this.#followed.set(job, this.#follow(job.id))
  }

  async #follow(id: string): Promise<string> {
    let text = ''
    let last = ''
    for await (const item of this.#app.jobs.follow(id, { caller: 'host' })) {
      expect(last).not.toBe('end')
      last = item.type
      if (item.type === 'output') text += item.chunks.map((chunk) => chunk.text).join('')
    }
    expect(last).toBe('end')
    return text
  }

  #wait(on: ModelJob, ms: number, byOwner: boolean): void {
    const { jobs, session } = this.#app
    const controller = new AbortController()
    const wait = this.#model.wait(on, ms, byOwner)
    this.#controllers.set(wait, controller)
    const result = jobs.wait(on.id, ms, byOwner ? session : 'host', controller.signal).then(
      ({ outcome, job }) => {
        expect(job.finishedAt !== undefined).toBe(outcome === 'settled')
        return outcome
      },
      (error: JobError) => (error.code === 'JOB_WAIT_ABORTED' ? 'aborted' : `failed: ${error.message}`),
    )
    this.#results.push({ wait, result })
  }

  #readOnce(on: ModelJob, maxBytes: number): number {
    const { jobs, session } = this.#app
    this.#model.read(on)
    const page = jobs.read(on.id, session, { maxBytes })
    expect(page.chunks.every(({ dropped, error }) => dropped === 0 && error === undefined)).toBe(true)
    this.#read.set(on, this.#read.get(on) + page.chunks.map(({ text }) => text).join(''))
    return page.unread
  }

  #readAll(on: ModelJob): void {
    while (this.#readOnce(on, 64_000) > 0);
    expect(this.#read.get(on)).toBe(on.written)
  }

  #notify(): void {
    const { jobs } = this.#app
    for (const { id } of jobs.dueNotices()) {
      expect(jobs.claimNotice(id)).toBe(true)
      this.#notices.set(id, (this.#notices.get(id) ?? 0) + 1)
    }
    for (const job of this.#model.jobs) if (!job.removed) this.#model.claim(job)
  }

  async #reload(how: Step['do']): Promise<void> {
    const row = this.#app.kernel.row('jobs')
    if (how === 'reload') await row?.replace(jobsPlugin(this.#app.clock))
    else await row?.reconfigure({ maxJobsPerOwner: 64 + ++this.#configs })
    this.#app.jobs = this.#app.kernel.get(Jobs) as Jobs
  }

  async #flush(): Promise<void> {
    this.#model.flush()
    await settled()
  }

  #compare(): void {
    const seen = this.#app.jobs.list('host').map(({ id, status, attachment, notice, stop }) => ({ id, status, attachment, notice, stop }))
    const wanted = this.#model.jobs
      .filter(({ removed }) => !removed)
      .map(({ id, status, attachment, notice, stop }) => ({ id, status, attachment, notice, stop }))
    expect(seen).toEqual(wanted)
  }

  async #finish(): Promise<void> {
    await this.#flush()
    for (const job of this.#model.jobs) {
      job.said ??= { status: 'completed' }
      void this.#producers.get(job)?.end({ status: 'completed' })
    }
    await this.#flush()
    this.#compare()
    for (const { wait, result } of this.#results) expect(await result).toBe(wait.result)
    this.#notify()
    for (const job of this.#model.jobs) {
      if (!job.removed) this.#readAll(job)
      // What survivors of the job write after its end may be followed, and need not.
      const followed = (await this.#followed.get(job)) ?? ''
      expect([followed.startsWith(job.writtenAtEnd), job.written.startsWith(followed)]).toEqual([true, true])
      const settlements = this.#app.settlements.filter((event) => event.job.id === job.id)
      expect(settlements.map(({ awaited, cause, job: { status } }) => ({ awaited, cause, status }))).toEqual(job.settlements)
      expect(settlements).toHaveLength(1)
      expect(this.#notices.get(job.id) ?? 0).toBe(job.notice === 'sent' ? 1 : 0)
    }
    expect([this.#app.clock.timers, this.#app.complaints.filter((line) => !line.includes('did not stop'))]).toEqual([0, []])
  }
}

describe('any schedule', () => {
  it('JB-14 JB-26 JB-29 JB-32 JB-53 one terminal state, the right awaited, one notice or none, no byte lost or repeated', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        await using app = await openJobs()
        await new Play(app).run(steps)
      }),
      { numRuns: 250 },
    )
  })
})
