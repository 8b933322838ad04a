import { Producer, settled } from '@tenon/jobs/conformance'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { human, model, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

describe('kill', () => {
  it('JB-43 cancels once, with the first reason; one that has finished is left alone, unread output included', async () => {
    const producer = app.start()
    expect(app.jobs.kill(producer.id, app.session, model)).toBe('requested')
    expect(app.jobs.kill(producer.id, 'host', human)).toBe('requested')
    expect(producer.cancels).toEqual([model])
    expect(app.get(producer.id)).toMatchObject({ status: 'stopping', stop: model })
    producer.stdout.write('last')
    await producer.end({ status: 'killed' })
    expect(app.jobs.kill(producer.id, 'host', human)).toBe('already-finished')
    expect(app.get(producer.id)).toMatchObject({ stop: model, detail: { outcome: 'stopped with job_kill' } })
    expect(app.jobs.read(producer.id, app.session).chunks).toMatchObject([{ text: 'last' }])
    expect(app.told.filter((told) => told.startsWith('stopping'))).toHaveLength(1)
  })

  it('a reason is one line of at most 200 characters; a blank one says who it was', async () => {
    const texts = [`first\nsecond`, 'x'.repeat(300), ' \n', undefined as never]
    const reasons = texts.map((text) => {
      const producer = app.start()
      app.jobs.kill(producer.id, 'host', { by: 'human', text })
      return producer.cancels[0]?.text
    })
    expect(reasons).toEqual(['first', `${'x'.repeat(199)}…`, 'cancelled by the user', 'cancelled by the user'])
  })

  it('JB-44 a cancel that throws: the status is as it was, and the next kill tries again', async () => {
    const producer = app.start()
    producer.refusal = new Error('busy')
    app.told.length = 0
    expect(() => app.jobs.kill(producer.id, 'host', human)).toThrow(
      expect.objectContaining({ code: 'JOB_CANCEL_FAILED', message: 'job test-1 could not be stopped: busy', cause: producer.refusal }),
    )
    expect(app.get(producer.id)).toMatchObject({ status: 'running' })
    expect(app.get(producer.id)).not.toHaveProperty('stop')
    expect([app.told, app.clock.timers]).toEqual([[], 0])
    producer.refusal = undefined
    expect(app.jobs.kill(producer.id, 'host', model)).toBe('requested')
    expect(app.get(producer.id)).toMatchObject({ status: 'stopping', stop: model })
    await producer.end({ status: 'killed' })
    expect(app.clock.timers).toBe(0)
  })

  it('a cancel that is rejected later is logged and harms nobody', async () => {
    const producer = new Producer()
    const { run } = producer.spec(app.session)
    const cancel = () => Promise.reject(new Error('too late')) as never
    app.jobs.start(producer.spec(app.session, { run: (job) => ({ ...run(job), cancel }) }))
    app.jobs.kill(producer.id, 'host', human)
    await settled()
    expect(app.complaints).toEqual(['job test-1: its cancel was rejected: too late'])
    expect(app.get(producer.id).status).toBe('stopping')
  })

  it('a cancel that asks for a kill again, or ends its session, is answered once', async () => {
    const producer = new Producer()
    const { run } = producer.spec(app.session)
    let closing: Promise<void> | undefined
    const cancel = () => {
      producer.cancels.push(human)
      expect(app.jobs.kill(producer.id, 'host', model)).toBe('requested')
      closing = app.session.scope.close()
    }
    app.jobs.start(producer.spec(app.session, { run: (job) => ({ ...run(job), cancel }) }))
    app.jobs.kill(producer.id, 'host', human)
    expect(producer.cancels).toHaveLength(1)
    await producer.end({ status: 'killed' })
    await closing
    expect(app.settlements).toMatchObject([{ cause: 'teardown', job: { stop: human } }])
  })

  it('JB-45 a producer that never settles: failed at its budget, waiters and slot free, a late outcome ignored, the notice due', async () => {
    await using small = await openJobs({ maxDetachedPerOwner: 1 })
    const producer = small.start({ stopBudgetMs: 2_000 })
    const waiting = small.jobs.wait(producer.id, 100_000, 'host')
    small.jobs.kill(producer.id, small.session, model)
    small.clock.advance(1_999)
    expect(small.get(producer.id).status).toBe('stopping')
    small.clock.advance(1)
    expect(await waiting).toMatchObject({
      outcome: 'settled',
      job: { status: 'failed', detail: { outcome: 'did not stop; work may be orphaned' }, notice: 'due' },
    })
    expect(small.jobs.dueNotices().map(({ id }) => id)).toEqual([producer.id])
    expect(small.complaints).toEqual(['job test-1 (a test) did not stop within its budget; work may be orphaned'])
    expect(small.start().id).toBe('test-2')
    await producer.end()
    expect(small.settlements).toHaveLength(1)
  })

  it('JB-45 a stop of the call’s that exceeds its budget is nobody’s news', () => {
    const producer = app.start()
    app.jobs.kill(producer.id, app.session, { by: 'call', text: 'tool call aborted' })
    app.clock.advance(8_000)
    expect(app.get(producer.id)).toMatchObject({ status: 'failed', notice: 'withheld' })
  })

  it('JB-46 never touches another job that began right after with the same command', async () => {
    const detail = { command: 'sleep 9' }
    const [one, two] = [app.start({ detail }), app.start({ detail })]
    app.jobs.kill(one.id, 'host', human)
    await one.end({ status: 'killed' })
    app.clock.advance(100_000)
    expect([two.cancels, app.get(two.id).status]).toEqual([[], 'running'])
  })
})

describe('remove', () => {
  it('JB-47 takes settled jobs, with one event; not live, unknown or foreign ones', async () => {
    const [done, live] = [app.start(), app.start()]
    await done.end()
    app.told.length = 0
    app.jobs.remove(done.id, app.session)
    expect(app.told).toEqual(['changed', 'removed test-1'])
    expect(app.list()).toEqual([live.id])
    const refused = (remove: () => void) => {
      expect(remove).toThrow()
      try {
        remove()
      } catch (error) {
        return `${(error as { code: string }).code}: ${(error as Error).message}`
      }
      return undefined
    }
    expect(refused(() => app.jobs.remove(done.id, app.session))).toBe('JOB_UNKNOWN: unknown job test-1')
    expect(refused(() => app.jobs.remove(live.id, app.session))).toBe('JOB_RUNNING: job test-2 is still running')
    app.jobs.kill(live.id, 'host', human)
    expect(refused(() => app.jobs.remove(live.id, app.session))).toBe('JOB_RUNNING: job test-2 is still running')
    expect(refused(() => app.jobs.remove(live.id, app.open('two')))).toBe('JOB_FOREIGN: job test-2 belongs to another session')
  })
})

describe('ids', () => {
  const odd: readonly [string, string][] = [
    ['', '""'],
    ['__proto__', '"__proto__"'],
    ['test-1\0', '"test-1\\u0000"'],
    ['test-99', 'test-99'],
    ['x'.repeat(1_000), `"${'x'.repeat(64)}…"`],
    [5 as never, '5'],
  ]
  it.each(odd)('JB-48 every verb refuses %j', async (id, shown) => {
    app.start()
    const verbs: Record<string, () => unknown> = {
      get: () => app.jobs.get(id, 'host'),
      detach: () => app.jobs.detach(id, app.session),
      promote: () => app.jobs.promote(id, 'host'),
      kill: () => app.jobs.kill(id, 'host', human),
      remove: () => app.jobs.remove(id, 'host'),
      read: () => app.jobs.read(id, app.session),
      readAt: () => app.jobs.readAt(id, {}, 'host'),
      follow: () => app.jobs.follow(id, { caller: 'host' }),
      claimNotice: () => app.jobs.claimNotice(id),
      ownerOf: () => app.jobs.ownerOf(id),
    }
    const unknown = expect.objectContaining({ code: 'JOB_UNKNOWN', message: `unknown job ${shown}` })
    for (const verb of Object.values(verbs)) expect(verb).toThrow(unknown)
    await expect(app.jobs.wait(id, 0, 'host')).rejects.toEqual(unknown)
  })
})

describe('the host', () => {
  it('JB-49 lists, gets, reads at offsets, follows, promotes, kills and removes any job', async () => {
    const [mine, theirs] = [app.start({ attachment: 'foreground' }), app.start({ owner: app.open('two') })]
    expect(app.jobs.list('host').map(({ id }) => id)).toEqual([mine.id, theirs.id])
    theirs.stdout.write('text')
    expect(app.jobs.readAt(theirs.id, {}, 'host').chunks).toMatchObject([{ text: 'text' }])
    const types: string[] = []
    const followed = (async () => {
      for await (const { type } of app.jobs.follow(theirs.id, { caller: 'host' })) types.push(type)
    })()
    expect(app.jobs.promote(mine.id, 'host')).toBe('requested')
    expect(app.jobs.kill(theirs.id, 'host', human)).toBe('requested')
    await theirs.end({ status: 'killed' })
    await followed
    expect(types).toEqual(['opened', 'status', 'output', 'status', 'end'])
    app.jobs.remove(theirs.id, 'host')
    expect(app.jobs.list('host').map(({ id }) => id)).toEqual([mine.id])
    expect(app.jobs.ownerOf(mine.id)).toBe(app.session)
  })
})

describe('notices', () => {
  it('are due once, until somebody claims them or the owner reads the end', async () => {
    const [told, read, awaited] = [app.start(), app.start(), app.start()]
    expect(app.get(told.id).notice).toBe('none')
    void app.jobs.wait(awaited.id, 1_000, app.session)
    for (const producer of [told, read, awaited]) await producer.end()
    expect(app.jobs.dueNotices().map(({ id, notice }) => [id, notice])).toEqual([
      [told.id, 'due'],
      [read.id, 'due'],
    ])
    app.told.length = 0
    expect([app.jobs.claimNotice(told.id), app.jobs.claimNotice(told.id), app.jobs.claimNotice(awaited.id)]).toEqual([true, false, false])
    expect(app.jobs.readAt(read.id, {}, app.session).job.notice).toBe('due')
    expect(app.jobs.read(read.id, app.session).job.notice).toBe('withheld')
    expect(app.jobs.claimNotice(read.id)).toBe(false)
    expect(app.jobs.dueNotices()).toEqual([])
    expect([told, read, awaited].map(({ id }) => app.get(id).notice)).toEqual(['sent', 'withheld', 'withheld'])
    // What a list shows has changed twice.
    expect(app.told).toEqual(['changed', 'changed'])
  })
})
