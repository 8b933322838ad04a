import { Jobs } from '@tenon/jobs'
import { Producer, settled } from '@tenon/jobs/conformance'
import { Scope } from '@tenon/kernel'
import { openSession } from '@tenon/session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { human, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

describe('a session that closes', () => {
  it('JB-50 its jobs are cancelled together, awaited and removed; others are untouched; no notice', async () => {
    const other = app.start({ owner: app.open('two') })
    const [one, two, done] = [app.start(), app.start({ attachment: 'foreground' }), app.start()]
    await done.end()
    app.told.length = 0
    let closed = false
    const closing = app.session.scope.close().then(() => {
      closed = true
    })
    const reason = { by: 'host', text: 'session closed' }
    expect([one.cancels, two.cancels, other.cancels]).toEqual([[reason], [reason], []])
    await one.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    await settled()
    expect([closed, app.list()]).toEqual([false, [one.id, two.id, done.id]])
    await two.end({ status: 'killed' })
    await closing
    const { id: a } = one
    const { id: b } = two
    expect(app.told.filter((told) => told !== 'changed')).toEqual([
      ...[`stopping ${a}`, `stopping ${b}`, `settled ${a}`, `settled ${b}`],
      ...[`removed ${a}`, `removed ${b}`, `removed ${done.id}`],
    ])
    expect(app.settlements.slice(1)).toMatchObject([
      { cause: 'teardown', awaited: false, job: { notice: 'withheld', detail: { outcome: 'signal: SIGTERM; session closed' } } },
      { cause: 'teardown', awaited: true, job: { notice: 'withheld' } },
    ])
    expect([app.jobs.dueNotices(), app.list(app.session), app.get(other.id).status]).toEqual([[], [], 'running'])
  })

  it('JB-50 has one hook of the registry, however many jobs it had, and none after the registry has gone', async () => {
    const host = new Scope('host')
    const children: string[] = []
    const child = host.child.bind(host)
    host.child = (name) => {
      children.push(name)
      return child(name)
    }
    const session = openSession(host, { id: 'watched', cwd: '/' })
    const inner: Scope[] = []
    const open = session.scope.child.bind(session.scope)
    session.scope.child = (name) => {
      const scope = open(name)
      inner.push(scope)
      return scope
    }
    for (let n = 0; n < 5; n++) await app.start({ owner: session }).end()
    expect([children, inner.map(({ name, closed }) => [name, closed])]).toEqual([['session watched'], [['jobs', false]]])
    await app.kernel.row('jobs')?.unload()
    expect([session.scope.closed, inner[0]?.closed]).toEqual([false, true])
    await host.close()
  })

  it('JB-50 who waits for a job of it goes on before the record goes, and can read the end', async () => {
    const producer = app.start()
    producer.stdout.write('last words')
    const waited = app.jobs.wait(producer.id, 100_000, app.session).then(({ job }) => {
      const read = app.jobs.read(producer.id, app.session)
      return [job.status, job.stop?.text, read.chunks[0]?.text]
    })
    const closing = app.session.scope.close()
    await producer.end({ status: 'killed' })
    await closing
    expect(await waited).toEqual(['killed', 'session closed', 'last words'])
  })

  it('JB-51 hanging and throwing cancels are forced, named in the log, and the close ends within its budget', async () => {
    const [hung, throwing, patient] = [app.start({ label: 'hung' }), app.start({ label: 'throwing' }), app.start({ stopBudgetMs: 100_000 })]
    throwing.refusal = new Error('no')
    let closed = false
    const closing = app.session.scope.close().then(() => {
      closed = true
    })
    expect(app.get(throwing.id)).toMatchObject({
      status: 'failed',
      detail: { outcome: 'job test-2 could not be stopped: no' },
    })
    app.clock.advance(8_000)
    await settled()
    expect([app.get(hung.id).status, app.get(patient.id).status, closed]).toEqual(['failed', 'stopping', false])
    app.clock.advance(1_000)
    await closing
    expect(app.settlements.map(({ job, cause }) => [job.id, job.status, cause])).toEqual([
      [throwing.id, 'failed', 'teardown'],
      [hung.id, 'failed', 'teardown'],
      [patient.id, 'failed', 'teardown'],
    ])
    expect(app.complaints).toEqual([
      'job test-2 could not be stopped: no',
      'job test-1 (hung) did not stop within its budget; work may be orphaned',
      'job test-3 (a test) did not stop within its budget; work may be orphaned',
    ])
    expect(app.clock.timers).toBe(0)
  })

  it('JB-51 what was being stopped gets no more than what was left of its budget, and never more than nine seconds', async () => {
    const [long, short] = [app.start({ stopBudgetMs: 100_000 }), app.start({ stopBudgetMs: 10_000 })]
    app.jobs.kill(long.id, 'host', human)
    app.jobs.kill(short.id, 'host', human)
    app.clock.advance(7_000)
    const closing = app.session.scope.close()
    app.clock.advance(3_000)
    expect([app.get(long.id).status, app.get(short.id).status]).toEqual(['stopping', 'failed'])
    app.clock.advance(6_000)
    await closing
    expect(app.settlements.map(({ job }) => job.id)).toEqual([short.id, long.id])
  })

  it('JB-51 sessions nested three deep all end, together', async () => {
    const inner = openSession(app.session.scope, { id: 'inner', cwd: '/' })
    const innermost = openSession(inner.scope, { id: 'innermost', cwd: '/' })
    const producers = [app.session, inner, innermost].map((owner) => app.start({ owner }))
    const closing = app.session.scope.close()
    expect(producers.map(({ cancels }) => cancels.length)).toEqual([1, 1, 1])
    for (const producer of producers) await producer.end({ status: 'killed' })
    await closing
    expect(app.jobs.list('host')).toEqual([])
  })
})

describe('the registry ends', () => {
  it('JB-52 with its kernel: every job is awaited, then there is silence, and each verb is refused', async () => {
    const host = new Scope('outlives the kernel')
    const session = openSession(host, { id: 'apart', cwd: '/' })
    const producer = app.start({ owner: session })
    const waiting = app.jobs.wait(producer.id, 100_000, session)
    app.told.length = 0
    let closed = false
    const closing = app.kernel.close().then(() => {
      closed = true
    })
    await settled()
    await settled()
    expect([closed, producer.cancels]).toEqual([false, [{ by: 'host', text: 'job registry closed' }]])
    expect(() => app.jobs.start(new Producer().spec(session))).toThrow(expect.objectContaining({ code: 'JOBS_CLOSED' }))
    await producer.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    await closing
    expect(await waiting).toMatchObject({ outcome: 'settled', job: { stop: { text: 'job registry closed' } } })
    const seen = app.told.length
    const { jobs } = app
    const verbs: readonly (() => unknown)[] = [
      () => jobs.start(new Producer().spec(session)),
      () => jobs.list('host'),
      () => jobs.get('test-1', 'host'),
      () => jobs.detach('test-1', session),
      () => jobs.promote('test-1', 'host'),
      () => jobs.kill('test-1', 'host', human),
      () => jobs.remove('test-1', 'host'),
      () => jobs.read('test-1', session),
      () => jobs.readAt('test-1', {}, 'host'),
      () => jobs.follow('test-1', { caller: 'host' }),
      () => jobs.subscribe(host, 'all', () => undefined),
      () => jobs.attachController(host, { name: 'x' }),
      () => jobs.dueNotices(),
      () => jobs.claimNotice('test-1'),
      () => jobs.ownerOf('test-1'),
    ]
    for (const verb of verbs) expect(verb).toThrow(expect.objectContaining({ code: 'JOBS_CLOSED', message: 'job registry closed' }))
    await expect(jobs.wait('test-1', 0, 'host')).rejects.toMatchObject({ code: 'JOBS_CLOSED' })
    expect(app.told).toHaveLength(seen)
    await host.close()
  })

  it('JB-52 with its row, under followers; loaded again, it is a new one', async () => {
    const producer = app.start()
    producer.stdout.write('seen')
    const types: string[] = []
    const followed = (async () => {
      for await (const item of app.jobs.follow(producer.id, { caller: app.session })) {
        types.push(item.type === 'status' ? item.job.status : item.type)
      }
    })()
    await settled()
    const row = app.kernel.row('jobs')
    const unloading = row?.unload()
    await settled()
    await producer.end({ status: 'killed' })
    await unloading
    await followed
    expect(types).toEqual(['opened', 'output', 'stopping', 'killed', 'end'])
    expect(app.kernel.get(Jobs)).toBeUndefined()
  })

  it('JB-52 a hung job holds the end up for its budget and no longer', async () => {
    const producer = app.start()
    const closing = app.kernel.row('jobs')?.unload()
    await settled()
    app.clock.advance(8_000)
    await closing
    expect(app.settlements).toMatchObject([{ cause: 'teardown', job: { id: producer.id, status: 'failed' } }])
  })
})
