import { getEventListeners } from 'node:events'
import { settled } from '@tenon/jobs/conformance'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { byCall, human, model, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

const wait = (id: string, ms: number, signal?: AbortSignal) => app.jobs.wait(id, ms, app.session, signal)

describe('a wait', () => {
  it('JB-23 on a settled job returns at once, expires with the live view, and polls with 0', async () => {
    const [done, live] = [app.start(), app.start()]
    await done.end()
    expect(await wait(done.id, 5)).toMatchObject({ outcome: 'settled', job: { status: 'completed' } })
    expect(await wait(live.id, 0)).toMatchObject({ outcome: 'expired', job: { status: 'running' } })
    const expiring = wait(live.id, 100)
    app.clock.advance(99)
    expect(app.clock.timers).toBe(1)
    app.clock.advance(1)
    expect(await expiring).toMatchObject({ outcome: 'expired', job: { status: 'running', durationMs: 100 } })
    expect(app.clock.timers).toBe(0)
  })

  it('JB-23 is released after a kill, an end from outside and an exceeded stop budget', async () => {
    const [killed, shot, stuck] = [app.start(), app.start(), app.start()]
    const waits = [killed, shot, stuck].map(({ id }) => wait(id, 100_000))
    app.jobs.kill(killed.id, 'host', human)
    await killed.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    await shot.end({ status: 'killed', outcome: 'signal: SIGKILL' })
    app.jobs.kill(stuck.id, 'host', human)
    app.clock.advance(8_000)
    expect((await Promise.all(waits)).map(({ outcome, job }) => [outcome, job.status, job.detail.outcome])).toEqual([
      ['settled', 'killed', 'signal: SIGTERM; cancelled by the user'],
      ['settled', 'killed', 'signal: SIGKILL'],
      ['settled', 'failed', 'did not stop; work may be orphaned'],
    ])
  })

  it.each([Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY, 2_147_483_648, '5' as never])('JB-24 of %j is refused', async (ms) => {
    const { id } = app.start()
    await expect(wait(id, ms)).rejects.toMatchObject({
      code: 'JOB_TIMEOUT_INVALID',
      message: `invalid wait timeout: expected an integer from 0 to 2147483647, got ${typeof ms === 'string' ? JSON.stringify(ms) : ms}`,
    })
    expect(app.clock.timers).toBe(0)
  })

  it('JB-24 of the longest time does not fire early', async () => {
    const producer = app.start()
    let over = false
    const waiting = wait(producer.id, 2_147_483_647).then((result) => {
      over = true
      return result
    })
    app.clock.advance(2_147_483_646)
    await settled()
    expect(over).toBe(false)
    await producer.end()
    expect((await waiting).outcome).toBe('settled')
  })

  it('JB-25 an abort rejects only the wait; a pre-aborted one rejects; after the settlement it changes nothing', async () => {
    const producer = app.start()
    const controller = new AbortController()
    const [aborted, other] = [wait(producer.id, 1_000, controller.signal), wait(producer.id, 1_000)]
    controller.abort(new Error('why'))
    await expect(aborted).rejects.toMatchObject({ code: 'JOB_WAIT_ABORTED', message: 'wait aborted', cause: { message: 'why' } })
    await expect(wait(producer.id, 1_000, controller.signal)).rejects.toMatchObject({ code: 'JOB_WAIT_ABORTED' })
    expect(app.get(producer.id).status).toBe('running')
    const late = new AbortController()
    const waiting = wait(producer.id, 1_000, late.signal)
    await producer.end()
    late.abort()
    expect((await waiting).outcome).toBe('settled')
    expect((await other).outcome).toBe('settled')
    expect((await wait(producer.id, 1_000, late.signal)).outcome).toBe('settled')
  })

  it('JB-28 fifty at the same time and two thousand in a row on one signal leave no listener, no timer and no warning', async () => {
    const warnings: Error[] = []
    const note = (warning: Error) => void warnings.push(warning)
    process.on('warning', note)
    const producer = app.start()
    const { signal } = new AbortController()
    const listeners = () => getEventListeners(signal, 'abort').length
    const waits = Array.from({ length: 50 }, () => wait(producer.id, 10, signal))
    app.clock.advance(10)
    await Promise.all(waits)
    for (let n = 0; n < 2_000; n++) {
      const waiting = wait(producer.id, 10, signal)
      app.clock.advance(10)
      await waiting
    }
    expect([listeners(), app.clock.timers]).toEqual([0, 0])
    const last = Array.from({ length: 50 }, () => wait(producer.id, 10, signal))
    await producer.end()
    await Promise.all(last)
    expect([listeners(), app.clock.timers]).toEqual([0, 0])
    await settled()
    process.off('warning', note)
    expect(warnings).toEqual([])
  })
})

describe('awaited', () => {
  const awaitedOf = async (before: (id: string) => unknown, attachment: 'detached' | 'foreground' = 'detached') => {
    const producer = app.start({ attachment })
    await before(producer.id)
    await producer.end()
    const { awaited, job } = app.settlements.at(-1) ?? {}
    expect(job?.id).toBe(producer.id)
    expect(job?.notice).toBe(awaited ? 'withheld' : 'due')
    return awaited
  }
  const expire = async (id: string) => {
    const expiring = wait(id, 10)
    app.clock.advance(10)
    await expiring
  }
  const abort = (id: string) => {
    const controller = new AbortController()
    const aborted = wait(id, 10, controller.signal)
    aborted.catch(() => undefined)
    controller.abort()
  }

  it('JB-26 is true with a live wait of the owner, and false with none, an expired, an aborted one, or only the host’s', async () => {
    expect(await awaitedOf((id) => void wait(id, 1_000))).toBe(true)
    expect(await awaitedOf(() => undefined)).toBe(false)
    expect(await awaitedOf(expire)).toBe(false)
    expect(await awaitedOf(abort)).toBe(false)
    expect(await awaitedOf((id) => void app.jobs.wait(id, 1_000, 'host'))).toBe(false)
  })

  it('JB-26 is true though another wait expired, and while a call holds the job', async () => {
    const both = async (id: string) => {
      void wait(id, 1_000)
      await expire(id)
    }
    expect(await awaitedOf(both)).toBe(true)
    expect(await awaitedOf(() => undefined, 'foreground')).toBe(true)
    expect(await awaitedOf(expire, 'foreground')).toBe(true)
    expect(await awaitedOf((id) => void app.jobs.detach(id, app.session), 'foreground')).toBe(false)
  })

  it('JB-27 an abort and the settlement in one tick: not awaited, the notice is due', async () => {
    const producer = app.start()
    const controller = new AbortController()
    const waiting = wait(producer.id, 1_000, controller.signal)
    const ended = producer.end()
    controller.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'JOB_WAIT_ABORTED' })
    await ended
    expect(app.settlements).toMatchObject([{ awaited: false, job: { notice: 'due' } }])
  })

  it.each([
    [model, 'withheld'],
    [byCall, 'withheld'],
    [human, 'due'],
    [{ by: 'host', text: 'x' } as const, 'due'],
  ] as const)('JB-71 after a stop by %j the notice is %s', async (reason, notice) => {
    const producer = app.start()
    app.jobs.kill(producer.id, 'host', reason)
    await producer.end({ status: 'killed' })
    expect(app.get(producer.id).notice).toBe(notice)
  })
})

describe('the hold', () => {
  it('JB-29 three hundred jobs that end at about the bound: each is reported once, by its call or by one notice', async () => {
    await using many = await openJobs({ maxDetachedPerOwner: 1_000, maxJobsPerOwner: 1_000 })
    const byItsCall: string[] = []
    const moved: string[] = []
    const call = async (n: number) => {
      const producer = many.start({ attachment: 'foreground' })
      const waiting = many.jobs.wait(producer.id, 100, many.session)
      // A third ends before the bound, a third within the same step of the clock, a third after it.
      if (n % 3 === 0) void producer.end()
      else if (n % 3 === 1) many.clock.after(100, () => void producer.end())
      else many.clock.after(101, () => void producer.end())
      const { outcome } = await waiting
      if (outcome === 'expired' && many.jobs.detach(producer.id, many.session).finishedAt === undefined) moved.push(producer.id)
      else {
        byItsCall.push(producer.id)
        many.jobs.remove(producer.id, many.session)
      }
    }
    const calls = Array.from({ length: 300 }, (_, n) => call(n))
    await settled()
    many.clock.advance(100)
    await settled()
    many.clock.advance(100)
    await Promise.all(calls)
    await settled()
    const due = many.jobs.dueNotices().map(({ id }) => id)
    expect([...due].sort()).toEqual([...moved].sort())
    expect(byItsCall.length + moved.length).toBe(300)
    expect(new Set([...byItsCall, ...moved]).size).toBe(300)
    expect(Math.min(byItsCall.length, moved.length)).toBeGreaterThan(50)
    expect([...many.list()].sort()).toEqual([...moved].sort())
  })

  it('JB-30 detach of a live, a detached, a settled and a foreign job', async () => {
    const [live, done] = [app.start({ attachment: 'foreground' }), app.start({ attachment: 'foreground' })]
    expect(app.jobs.detach(live.id, app.session)).toMatchObject({ attachment: 'detached', status: 'running' })
    expect(app.jobs.detach(live.id, app.session)).toMatchObject({ attachment: 'detached' })
    await done.end()
    app.told.length = 0
    expect(app.jobs.detach(done.id, app.session)).toMatchObject({ status: 'completed', notice: 'withheld' })
    expect(app.told).toEqual([])
    expect(() => app.jobs.detach(live.id, app.open('two'))).toThrow(expect.objectContaining({ code: 'JOB_FOREIGN' }))
  })

  it('JB-30 a hold that a throwing call abandons is let go in its finally', async () => {
    const producer = app.start({ attachment: 'foreground' })
    const call = async () => {
      try {
        void wait(producer.id, 1_000)
        throw new Error('a fault of the call')
      } finally {
        app.jobs.detach(producer.id, app.session)
      }
    }
    await expect(call()).rejects.toThrow('a fault of the call')
    expect(app.get(producer.id)).toMatchObject({ attachment: 'detached', status: 'running' })
  })

  it('JB-31 promote by the host ends the holder’s wait as expired, and does not move what nobody holds', async () => {
    const held = app.start({ attachment: 'foreground' })
    const waiting = wait(held.id, 100_000)
    app.clock.advance(40)
    expect(app.jobs.promote(held.id, 'host')).toBe('requested')
    expect(await waiting).toMatchObject({ outcome: 'expired', job: { attachment: 'foreground', durationMs: 40 } })
    app.jobs.detach(held.id, app.session)
    expect(app.jobs.promote(held.id, 'host')).toBe('not-foreground')
    const done = app.start({ attachment: 'foreground' })
    await done.end()
    expect(app.jobs.promote(done.id, 'host')).toBe('not-foreground')
  })
})
