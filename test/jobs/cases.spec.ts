import type { Producer } from '@tenon/jobs/conformance'
import toolJobs from '@tenon/plugin-tool-jobs'
import { NoticeQueue, openSession, type Session } from '@tenon/session'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained, type Opened, openJobs } from './opened.ts'

/** What users of other programs met, with producers that a test plays. */
let app: Opened
afterEach(() => app[Symbol.asyncDispose]())

const line = (id: string) => `background job ${id} (bash: make) finished [status: completed, exit code: 0]. Read its output with job_output.`

describe('notices', () => {
  it('B100 eight jobs that end together while their owner is in a call, and eight while it is idle, are told once each', async () => {
    app = await openJobs({ jobs: { maxDetachedPerOwner: 64 } })
    const holding = app.start({ attachment: 'foreground' })
    const inCall = app.call('job_output', { job_id: holding.id, wait: true })
    const told = async () => {
      const producers = Array.from({ length: 8 }, () => app.start())
      await Promise.all(producers.map((producer) => producer.end()))
      await drained()
      return producers.map(({ id }) => line(id))
    }
    const busy = await told()
    await holding.end()
    await inCall
    const idle = await told()
    expect(app.messages.flatMap((message) => message.split('\n\n'))).toEqual([...busy, ...idle])
  })

  it('B101 a notice arrives in whatever its owner is doing, and a promise of one is only there while somebody keeps it', async () => {
    app = await openJobs()
    const states: Record<string, (ends: Producer) => Promise<unknown>> = {
      idle: (ends) => ends.end(),
      'in a tool': (ends) => inATool(() => ends.end()),
      'just after the end of a call': async (ends) => {
        await app.call('job_list')
        await ends.end()
      },
      'while the teller is being reloaded': async (ends) => {
        const reloading = app.kernel.row('tool-jobs')?.replace(toolJobs)
        await ends.end()
        await reloading
      },
      'while the tools are being reloaded': async (ends) => {
        const reloading = app.kernel.row('tools')?.reconfigure({ reconcileWaitMs: 4_000 })
        await ends.end()
        await reloading
      },
    }
    for (const [state, end] of Object.entries(states)) {
      const ends = app.start()
      await end(ends)
      await drained()
      expect([state, app.messages.at(-1)]).toEqual([state, line(ends.id)])
    }
    expect(app.messages).toHaveLength(Object.keys(states).length)
    // Nobody tells any more: then nothing starts that would have to be told of.
    await app.kernel.row('tool-jobs')?.unload()
    expect(() => app.start()).toThrow('background jobs unavailable: no job controller serves this session')
  })

  it('B101 what an owner was not told before it ended goes with it', async () => {
    app = await openJobs()
    const leaving = app.open('leaving')
    const [before, during] = [app.start({ owner: leaving }), app.start({ owner: leaving })]
    const ended = before.end()
    const closing = leaving.scope.close()
    await ended
    await during.end({ status: 'killed' })
    await closing
    await drained()
    expect([app.messages, app.jobs.dueNotices(), app.jobs.list('host')]).toEqual([[], [], []])
  })

  it('B121 a model that answers each notice with a new job is stopped by the budget of its host, and goes on when a person speaks', async () => {
    app = await openJobs()
    const host = wakingHost(3)
    host.startOne()
    for (let turns = 0; turns < 20; turns++) {
      await host.endAll()
      await drained()
    }
    expect([host.turns, host.waiting.drain()]).toEqual([3, [expect.objectContaining({ summary: 'bash-4 completed: make' })]])
    host.hearsAPerson()
    host.startOne()
    for (let turns = 0; turns < 20; turns++) {
      await host.endAll()
      await drained()
    }
    expect(host.turns).toBe(6)
  })

  it('B121 a notice by itself starts nothing: a host that only queues is never woken', async () => {
    app = await openJobs()
    const quiet = openSession(app.kernel.scope, { id: 'quiet', cwd: '/' })
    for (let n = 0; n < 20; n++) await app.start({ owner: quiet }).end()
    await drained()
    expect(app.jobs.list(quiet).every(({ status }) => status === 'completed')).toBe(true)
    expect(quiet.notices.drain().flatMap(({ text }) => text.split('\n\n'))).toHaveLength(20)
  })

  /** The call of a tool that does this. */
  async function inATool(work: () => Promise<unknown>): Promise<void> {
    const scope = app.kernel.scope.child('slow')
    app.tools.register(scope, {
      name: 'slow',
      description: 'Takes its time.',
      input: z.strictObject({}),
      output: z.null(),
      async execute() {
        await work()
        await drained()
        return null
      },
      render: () => [{ type: 'text', text: 'done' }],
    })
    expect(await app.shown('slow')).toBe('done')
    await scope.close()
  }

  /** A host with a model that starts a job in each turn, and that lets notices start so many turns in a row. */
  function wakingHost(budget: number) {
    let left = budget
    let running: Producer[] = []
    const waiting = new NoticeQueue()
    const session: Session = openSession(app.kernel.scope, {
      id: 'waking',
      cwd: '/',
      deliver(notice) {
        if (left === 0) return waiting.push(notice)
        left--
        host.turns++
        host.startOne()
        return 'delivered'
      },
    })
    const host = {
      turns: 0,
      waiting,
      startOne: () => void running.push(app.start({ owner: session })),
      hearsAPerson: () => {
        left = budget
      },
      async endAll() {
        const ending = running
        running = []
        await Promise.all(ending.map((producer) => producer.end()))
      },
    }
    return host
  }
})

describe('slots', () => {
  it('B107 of four starts at a limit of two there are two jobs, and nobody ever hears of the others', async () => {
    app = await openJobs({ jobs: { maxDetachedPerOwner: 2 } })
    const heard: string[] = []
    app.jobs.subscribe(app.kernel.scope, 'all', (event) => {
      if (event.type !== 'changed') heard.push(`${event.type} ${event.job.id}`)
    })
    const starts = Array.from({ length: 4 }, () => {
      try {
        return app.start().id
      } catch (error) {
        return (error as { code: string }).code
      }
    })
    expect(starts).toEqual(['bash-1', 'bash-2', 'JOB_LIMIT_DETACHED', 'JOB_LIMIT_DETACHED'])
    expect(heard).toEqual(['registered bash-1', 'registered bash-2'])
    expect((await app.shown('job_list')).split('\n')).toHaveLength(2)
  })

  it('B131 a producer that never ends keeps its slot no longer than its budget, its owner can be closed, and the log names it', async () => {
    app = await openJobs({ jobs: { maxDetachedPerOwner: 1, stopBudgetMs: 30 } })
    const owner = app.open('stuck')
    const hung = app.start({ owner, label: 'never ends' })
    app.jobs.kill(hung.id, owner, { by: 'model', text: 'enough' })
    expect(() => app.start({ owner })).toThrow('background job limit reached')
    expect((await app.jobs.wait(hung.id, 60_000, owner)).job.detail.outcome).toBe('did not stop; work may be orphaned')
    const second = app.start({ owner, label: 'neither does this' })
    const since = performance.now()
    await owner.scope.close()
    expect(performance.now() - since).toBeLessThan(5_000)
    expect(app.complaints).toEqual([
      `job ${hung.id} (never ends) did not stop within its budget; work may be orphaned`,
      `job ${second.id} (neither does this) did not stop within its budget; work may be orphaned`,
    ])
  })
})
