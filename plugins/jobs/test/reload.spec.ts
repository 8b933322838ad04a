import { Jobs } from '@tenon/jobs'
import { type Producer, settled } from '@tenon/jobs/conformance'
import type { Kernel } from '@tenon/kernel'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { jobsPlugin } from '../src/plugin.ts'
import { human, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

const current = () => app.kernel.get(Jobs) as Jobs
type Reload = (kernel: Kernel) => Promise<void> | undefined
const byCode: Reload = (kernel) => kernel.row('jobs')?.replace(jobsPlugin(app.clock))
const byConfig: Reload = (kernel) => kernel.row('jobs')?.reconfigure({ stopBudgetMs: 5_000 })

const stdoutOf = (jobs: Jobs, { id }: Producer) =>
  jobs
    .read(id, app.session)
    .chunks.map(({ text }) => text)
    .join('')

describe.each([
  ['code', byCode],
  ['config', byConfig],
])('a reload by %s', (_how, reload) => {
  it('JB-53 under a waiting call, a job, a follower and a due notice: same ids and cursors, no gap, no repeat, one notice', async () => {
    const old = app.jobs
    const [held, live, done] = [app.start({ attachment: 'foreground' }), app.start(), app.start()]
    await done.end()
    live.stdout.write('one ')
    expect(stdoutOf(old, live)).toBe('one ')
    const waiting = old.wait(held.id, 1_000, app.session)
    let followed = ''
    const following = (async () => {
      for await (const item of old.follow(live.id, { caller: 'host' })) {
        if (item.type === 'output') followed += item.chunks.map(({ text }) => text).join('')
      }
    })()
    await settled()
    live.stdout.write('two ')

    await reload(app.kernel)
    const fresh = current()
    expect(fresh).not.toBe(old)
    expect(fresh.list('host')).toEqual(old.list('host'))
    live.stdout.write('three ')
    expect(stdoutOf(fresh, live)).toBe('two three ')
    live.stdout.write('four')
    expect(stdoutOf(old, live)).toBe('four')
    await held.end()
    expect(await waiting).toMatchObject({ outcome: 'settled', job: { status: 'completed' } })
    old.remove(held.id, app.session)
    expect(fresh.dueNotices().map(({ id }) => id)).toEqual([done.id])
    expect([old.claimNotice(done.id), fresh.claimNotice(done.id)]).toEqual([true, false])
    await live.end()
    await following
    expect(followed).toBe('one two three four')
    app.jobs = fresh
    expect(app.start().id).toBe('test-4')
    // Who listened before goes on listening, once.
    expect(app.told.filter((told) => told === 'registered test-4')).toHaveLength(1)
  })

  it('JB-53 a wait, a stop and a session’s end that began before are ended by the newest code, on its clock', async () => {
    const [waited, stopped, owned] = [app.start(), app.start(), app.start({ owner: app.open('two') })]
    const waiting = app.jobs.wait(waited.id, 100, app.session)
    app.jobs.kill(stopped.id, 'host', human)
    await reload(app.kernel)
    app.clock.advance(100)
    expect(await waiting).toMatchObject({ outcome: 'expired' })
    app.clock.advance(7_900)
    expect(current().get(stopped.id, 'host')).toMatchObject({ status: 'failed' })
    const closing = current().ownerOf(owned.id).scope.close()
    await owned.end({ status: 'killed' })
    await closing
    expect(current().list('host')).toHaveLength(2)
  })
})

describe('config', () => {
  it('JB-53 a new one applies to later starts', async () => {
    const before = app.start()
    await byConfig(app.kernel)
    const after = app.start()
    for (const { id } of [before, after]) app.jobs.kill(id, 'host', human)
    app.clock.advance(5_000)
    expect([app.get(before.id).status, app.get(after.id).status]).toEqual(['stopping', 'failed'])
    await before.end()
  })
})

describe('a change of the record format', () => {
  it('JB-56 with a migrate jobs live on', async () => {
    const producer = app.start()
    producer.stdout.write('kept')
    await app.kernel.row('jobs')?.replace(jobsPlugin(app.clock, { version: 2, migrate: (old) => old as never }))
    expect(current().get(producer.id, 'host').status).toBe('running')
    expect(stdoutOf(current(), producer)).toBe('kept')
    app.jobs = current()
    expect(app.start().id).toBe('test-2')
    expect(producer.cancels).toEqual([])
  })

  it('JB-56 without one they end as teardown; JB-07 and ids do not repeat', async () => {
    const old = app.jobs
    const producer = app.start()
    const waiting = old.wait(producer.id, 100_000, app.session)
    const replaced = app.kernel.row('jobs')?.replace(jobsPlugin(app.clock, { version: 2 }))
    await settled()
    await settled()
    expect(producer.cancels).toEqual([{ by: 'host', text: 'job registry closed' }])
    await producer.end({ status: 'killed' })
    await replaced
    await app.kernel.settled()
    expect(await waiting).toMatchObject({ job: { status: 'killed', detail: { outcome: 'job registry closed' } } })
    expect(app.settlements).toMatchObject([{ cause: 'teardown' }])
    expect(() => old.list('host')).toThrow(expect.objectContaining({ code: 'JOBS_CLOSED' }))
    app.jobs = current()
    expect(app.jobs.list('host')).toEqual([])
    app.jobs.attachController(app.kernel.scope, { name: 'again' })
    expect(app.start().id).toBe('test-2')
  })

  it('JB-56 an activation that fails leaves the old registry as it was', async () => {
    const producer = app.start()
    const broken = jobsPlugin(app.clock, {
      version: 2,
      migrate: () => {
        throw new Error('cannot')
      },
    })
    await expect(app.kernel.row('jobs')?.replace(broken)).rejects.toMatchObject({ code: 'ROLLED_BACK' })
    expect(current().get(producer.id, 'host').status).toBe('running')
    await producer.end()
    expect(current().get(producer.id, 'host').status).toBe('completed')
  })
})
