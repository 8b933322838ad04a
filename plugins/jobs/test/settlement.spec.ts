import type { JobEvent, JobOutcome } from '@tenon/jobs'
import { type Producer, settled } from '@tenon/jobs/conformance'
import { Scope } from '@tenon/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { human, model, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

describe('one terminal outcome', () => {
  const endings: Record<string, (producer: Producer) => Promise<void>> = {
    producer: (producer) => producer.end({ status: 'completed', outcome: 'exit code: 0' }),
    budget: async (producer) => {
      app.jobs.kill(producer.id, 'host', human)
      app.clock.advance(8_000)
      await settled()
    },
    teardown: async () => {
      void app.session.scope.close()
      app.clock.advance(9_000)
      await settled()
    },
  }
  const orders = [
    ['producer', 'budget', 'teardown'],
    ['producer', 'teardown', 'budget'],
    ['budget', 'producer', 'teardown'],
    ['budget', 'teardown', 'producer'],
    ['teardown', 'producer', 'budget'],
    ['teardown', 'budget', 'producer'],
  ]
  it.each(orders)('JB-14 the first of %s, %s, %s wins, the later ones are dropped', async (...order) => {
    const producer = app.start()
    for (const ending of order) {
      try {
        await endings[ending]?.(producer)
      } catch (error) {
        // The job is gone with its session.
        expect(error).toMatchObject({ code: 'JOB_UNKNOWN' })
      }
    }
    const [first] = order
    const orphaned = { status: 'failed', detail: { outcome: 'did not stop; work may be orphaned' } }
    expect(app.settlements).toHaveLength(1)
    expect(app.settlements[0]).toMatchObject(
      first === 'producer'
        ? { cause: 'producer', job: { status: 'completed', detail: { outcome: 'exit code: 0' } } }
        : { cause: first === 'budget' ? 'kill' : 'teardown', job: orphaned },
    )
  })

  it('JB-14 a late outcome is logged', async () => {
    const producer = app.start()
    app.jobs.kill(producer.id, 'host', human)
    app.clock.advance(8_000)
    await producer.end()
    expect(app.log.map(({ message }) => message)).toContain('job test-1 had already settled: completed came too late')
    expect(app.get(producer.id)).toMatchObject({ status: 'failed' })
  })

  it.each([
    [new Error('no disk'), 'no disk'],
    [new Error('first\nsecond'), 'first'],
    ['a text', 'a text'],
    [42, '42'],
    [undefined, '<unprintable thrown value>'],
    [null, '<unprintable thrown value>'],
    [new Error(''), '<unprintable thrown value>'],
  ])('JB-15 a done that rejects with %o is a failure: %s', async (thrown, outcome) => {
    const producer = app.start()
    await producer.fail(thrown)
    expect(app.get(producer.id)).toMatchObject({ status: 'failed', detail: { outcome } })
  })

  it.each([[null], [{}], [{ status: 'running' }], ['completed']])('JB-15 a done that resolves to what is no outcome is a failure', async (odd) => {
    const producer = app.start()
    await producer.end(odd as never as JobOutcome)
    expect(app.get(producer.id)).toMatchObject({ status: 'failed', detail: { outcome: 'the producer gave no valid outcome' } })
  })
})

describe('hostile values', () => {
  const hostile = (): object => {
    const get = (): never => {
      throw new Error('hostile')
    }
    return new Proxy({}, { get })
  }

  it('JB-15 a done that rejects with, or resolves to, what throws when it is looked at is a failure', async () => {
    const [thrown, odd] = [app.start(), app.start()]
    await thrown.fail(hostile())
    await odd.end({
      get status(): never {
        throw new Error('hostile')
      },
    })
    expect(app.get(thrown.id)).toMatchObject({ status: 'failed', detail: { outcome: '<unprintable thrown value>' } })
    expect(app.get(odd.id)).toMatchObject({ status: 'failed', detail: { outcome: 'the producer gave no valid outcome' } })
  })
})

describe('events', () => {
  it('JB-16 inside settled the record is terminal and the waiters are released', async () => {
    const producer = app.start()
    const order: string[] = []
    void app.jobs.wait(producer.id, 1_000, app.session).then(() => order.push('waiter went on'))
    app.jobs.subscribe(app.kernel.scope, 'all', (event) => {
      if (event.type !== 'settled') return
      order.push(`listed ${app.jobs.list(app.session).map(({ status }) => status)}`)
      expect(app.clock.timers).toBe(0)
      void Promise.resolve().then(() => order.push('after settled'))
    })
    await producer.end()
    expect(order).toEqual(['listed completed', 'waiter went on', 'after settled'])
  })

  it('JB-17 of one job registered is the first, removed the last, and each has its changed before it', async () => {
    const producer = app.start({ attachment: 'foreground' })
    app.jobs.detach(producer.id, app.session)
    app.jobs.kill(producer.id, 'host', human)
    await producer.end({ status: 'killed' })
    app.jobs.remove(producer.id, app.session)
    expect(app.told).toEqual(['registered', 'detached', 'stopping', 'settled', 'removed'].flatMap((type) => ['changed', `${type} test-1`]))
    const owners = app.events.map((event) => (event.type === 'changed' ? event.owner : event.job.owner))
    expect(new Set(owners)).toEqual(new Set(['one']))
  })

  it('JB-18 a throwing and a rejecting listener stop nobody and are reported to the owners of their scopes', async () => {
    const reports: string[] = []
    const owner = { undoMs: 1_000, report: (error: Error) => void reports.push(error.message) }
    const scope = new Scope('listener', owner)
    const seen: string[] = []
    app.jobs.subscribe(scope, 'all', () => {
      throw new Error('thrown')
    })
    app.jobs.subscribe(scope, 'all', (async () => {
      throw new Error('rejected')
    }) as (event: JobEvent) => void)
    app.jobs.subscribe(scope, 'all', ({ type }) => seen.push(type))
    app.start()
    await settled()
    expect(seen).toEqual(['changed', 'registered'])
    expect(reports.sort()).toEqual(['rejected', 'rejected', 'thrown', 'thrown'])
    await scope.close()
  })

  it('JB-18 events caused by a listener follow the current one for everybody, and its commit is there at once', () => {
    const seen: string[] = []
    const [first, second] = [new Scope('first'), new Scope('second')]
    app.jobs.subscribe(first, 'all', (event) => {
      if (event.type !== 'registered' || event.job.id !== 'test-1') return
      expect(app.jobs.kill('test-1', 'host', human)).toBe('requested')
      expect(app.get('test-1').status).toBe('stopping')
      app.start()
    })
    app.jobs.subscribe(second, 'all', (event) => {
      if (event.type !== 'changed') seen.push(`${event.type} ${event.job.id} ${event.job.status}`)
    })
    app.start()
    expect(seen).toEqual(['registered test-1 running', 'stopping test-1 stopping', 'registered test-2 running'])
    expect(app.told.filter((told) => told !== 'changed')).toEqual(['registered test-1', 'stopping test-1', 'registered test-2'])
  })

  it('JB-18 a listener that comes during an event hears what is committed after it came, and no more', () => {
    const late: string[] = []
    const scope = new Scope('first')
    let came = false
    app.jobs.subscribe(scope, 'all', (event) => {
      if (event.type !== 'registered' || came) return
      came = true
      app.start()
      app.jobs.subscribe(scope, 'all', ({ type }) => late.push(type))
      app.jobs.kill('test-2', 'host', human)
    })
    app.start()
    expect(late).toEqual(['changed', 'stopping'])
  })

  it('JB-19 a listener ends with its scope, and one of an owner hears of that very session only', async () => {
    const scope = new Scope('listener')
    const mine: string[] = []
    const twin = app.open('one')
    app.jobs.subscribe(scope, { owner: app.session }, (event) => mine.push(event.type))
    app.start({ owner: twin })
    expect(mine).toEqual([])
    app.start()
    expect(mine).toEqual(['changed', 'registered'])
    await scope.close()
    app.start()
    expect(mine).toEqual(['changed', 'registered'])
    expect(() => app.jobs.subscribe(scope, 'all', () => undefined)).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
  })

  it('JB-19 a subscriber that was reloaded twenty times is called once', async () => {
    const calls: string[] = []
    for (let n = 0; n < 20; n++) {
      const scope = new Scope('subscriber')
      app.jobs.subscribe(scope, 'all', ({ type }) => calls.push(type))
      if (n < 19) await scope.close()
    }
    app.start()
    expect(calls).toEqual(['changed', 'registered'])
  })
})

describe('facts', () => {
  it.each([
    ['killed', 'signal: SIGTERM', human, 'signal: SIGTERM; cancelled by the user', 'kill'],
    ['killed', undefined, human, 'cancelled by the user', 'kill'],
    ['killed', 'signal: SIGKILL', undefined, 'signal: SIGKILL', 'producer'],
    ['completed', 'exit code: 0', human, 'exit code: 0', 'producer'],
    ['failed', 'exit code: 3', human, 'exit code: 3', 'kill'],
    ['failed', 'exit code: 3', undefined, 'exit code: 3', 'producer'],
    ['completed', undefined, undefined, undefined, 'producer'],
  ] as const)('JB-20 %s with %j after a stop %j: outcome %j, cause %s', async (status, said, stop, outcome, cause) => {
    const producer = app.start()
    if (stop !== undefined) app.jobs.kill(producer.id, 'host', stop)
    await producer.end({ status, ...(said === undefined ? {} : { outcome: said }) })
    expect(app.get(producer.id).detail.outcome).toBe(outcome)
    expect(app.settlements).toMatchObject([{ cause }])
  })

  it.each([[{ exitCode: 1.5, signal: '' }], [{ exitCode: '3', signal: 9 }], [{ exitCode: Number.NaN }], [{ exitCode: null, signal: null }]])(
    'JB-20 %j is no fact of an end, and is left out',
    async (facts) => {
      const producer = app.start({ detail: { command: 'make' } })
      await producer.end({ status: 'completed', ...(facts as object) })
      expect(app.get(producer.id).detail).toEqual({ command: 'make' })
    },
  )

  it('JB-20 nothing is said of the end of a program that did not stop within its budget', async () => {
    const producer = app.start({ stopBudgetMs: 5 })
    app.jobs.kill(producer.id, 'host', human)
    app.clock.advance(5)
    await producer.end({ status: 'killed', signal: 'SIGTERM' })
    expect(app.get(producer.id).detail).toEqual({ outcome: 'did not stop; work may be orphaned' })
  })

  it('JB-20 teardown is the cause of whatever ends in it, also of what was being stopped', async () => {
    const [one, two] = [app.start(), app.start()]
    app.jobs.kill(one.id, 'host', human)
    const closing = app.session.scope.close()
    await one.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    await two.end()
    await closing
    expect(app.settlements).toMatchObject([
      { cause: 'teardown', job: { detail: { outcome: 'signal: SIGTERM; cancelled by the user' } } },
      { cause: 'teardown', job: { status: 'completed' } },
    ])
  })

  it('JB-21 finishedAt is there exactly when the status is terminal, and durations do not know of the wall clock', async () => {
    const producer = app.start()
    app.clock.advance(1_500)
    app.clock.aheadMs -= 3_600_000
    const live = app.get(producer.id)
    expect(live).toMatchObject({ durationMs: 1_500, startedAt: 1_700_000_001_000 })
    expect(live).not.toHaveProperty('finishedAt')
    app.jobs.kill(producer.id, 'host', human)
    expect(app.get(producer.id)).not.toHaveProperty('finishedAt')
    app.clock.advance(500)
    await producer.end({ status: 'killed' })
    app.clock.advance(10_000)
    expect(app.get(producer.id)).toMatchObject({ durationMs: 2_000, finishedAt: 1_700_000_003_000 - 3_600_000 })
  })

  it('JB-21 a view that was handed out never changes, and cannot be changed', async () => {
    const producer = app.start({ detail: { command: 'make' } })
    const before = app.get(producer.id)
    const copy = structuredClone(before)
    producer.stdout.write('more')
    app.jobs.kill(producer.id, 'host', model)
    await producer.end({ status: 'killed' })
    expect(before).toEqual(copy)
    const view = app.get(producer.id)
    for (const part of [view, view.detail, view.output, view.output.stdout, view.stop]) expect(Object.isFrozen(part)).toBe(true)
    expect(app.events.every((event) => Object.isFrozen(event))).toBe(true)
  })
})
