import toolJobs from '@tenon/plugin-tool-jobs'
import { openSession } from '@tenon/session'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs({ jobs: { maxDetachedPerOwner: 64 } })
})
afterEach(() => app[Symbol.asyncDispose]())

const line = (id: string, status = 'completed, exit code: 0') =>
  `background job ${id} (bash: make) finished [status: ${status}]. Read its output with job_output.`
const human = { by: 'human', text: 'cancelled by the user' } as const

describe('a notice', () => {
  it('JB-70 is delivered once per completion, also with two mounts', async () => {
    await app.kernel.load(toolJobs, {}, { id: 'second' }).ready()
    const producers = [app.start(), app.start()]
    for (const producer of producers) {
      await producer.end()
      await drained()
    }
    expect(app.messages).toEqual(producers.map(({ id }) => line(id)))
    expect(app.delivered[0]).toEqual({
      to: app.session,
      notice: { source: 'tool-jobs', text: line('bash-1'), summary: 'bash-1 completed: make' },
    })
    expect(Object.isFrozen(app.delivered[0]?.notice)).toBe(true)
    expect(app.jobs.get('bash-1', 'host').notice).toBe('sent')
  })

  it('JB-70 is not lost and not repeated by reloads of the row, and by a settlement in the middle of one', async () => {
    const [before, during] = [app.start(), app.start()]
    const row = app.kernel.row('tool-jobs')
    await before.end()
    await row?.reconfigure({ maxWaitMs: 700_000 })
    const reloading = row?.reconfigure({ maxWaitMs: 800_000 })
    await Promise.all([reloading, during.end()])
    await drained()
    expect(app.messages.join('\n\n').split('\n\n').sort()).toEqual([line(before.id), line(during.id)])
    await row?.reconfigure({ maxWaitMs: 900_000 })
    await drained()
    expect(app.messages.join('\n\n').split('\n\n')).toHaveLength(2)
  })

  it('JB-70 is told by the row that comes, if the one that left could not', async () => {
    const producer = app.start()
    await app.kernel.row('tool-jobs')?.unload()
    await producer.end()
    await drained()
    expect(app.messages).toEqual([])
    await app.kernel.load(toolJobs).ready()
    await drained()
    expect(app.messages).toEqual([line(producer.id)])
  })

  it('JB-70 is not told by a row that left in the tick of the settlement', async () => {
    const producer = app.start()
    let leaving: Promise<void> | undefined
    app.jobs.subscribe(app.kernel.scope, 'all', ({ type }) => {
      if (type === 'settled') leaving = app.kernel.row('tool-jobs')?.unload()
    })
    await producer.end()
    await leaving
    await drained()
    expect([app.messages, app.jobs.get(producer.id, 'host').notice]).toEqual([[], 'due'])
  })

  it('JB-71 there is none for what was awaited, held, stopped by the model or the call, torn down, or read already', async () => {
    const patient = { stopBudgetMs: 60_000 }
    const [awaited, held, read] = [app.start(), app.start({ attachment: 'foreground' }), app.start()]
    const [byModel, byCall] = [app.start(patient), app.start(patient)]
    void app.jobs.wait(awaited.id, 60_000, app.session)
    await app.call('job_kill', { job_id: byModel.id })
    app.jobs.kill(byCall.id, app.session, { by: 'call', text: 'tool call aborted' })
    for (const producer of [awaited, held]) await producer.end()
    for (const producer of [byModel, byCall]) await producer.end({ status: 'killed' })
    // In the tick in which it ended, before anybody could be told.
    app.jobs.subscribe(app.kernel.scope, 'all', (event) => {
      if (event.type === 'settled' && event.job.id === read.id) app.jobs.read(read.id, app.session)
    })
    await read.end()
    const session = app.open('two')
    const torn = app.start({ owner: session })
    const closing = session.scope.close()
    await torn.end({ status: 'killed' })
    await closing
    await drained()
    expect(app.messages).toEqual([])
  })

  it('JB-71 there is one, with its reason, for a stop by a person', async () => {
    const producer = app.start()
    app.jobs.kill(producer.id, 'host', human)
    await producer.end({ status: 'killed', outcome: 'signal: SIGTERM' })
    await drained()
    expect(app.messages).toEqual([line(producer.id, 'killed, signal: SIGTERM; cancelled by the user')])
  })

  it('JB-71 there is one for a stop by the model that did not work', async () => {
    const producer = app.start({ stopBudgetMs: 5 })
    await app.call('job_kill', { job_id: producer.id })
    await app.jobs.wait(producer.id, 60_000, 'host')
    await drained()
    expect(app.messages).toEqual([line(producer.id, 'failed, did not stop; work may be orphaned')])
  })

  it('JB-72 eight in one tick are one message of eight parts, over several ticks each is told once, and the ninth is counted', async () => {
    const end = async (count: number) => {
      const producers = Array.from({ length: count }, () => app.start())
      for (const producer of producers) void producer.end()
      await drained()
      return producers.map(({ id }) => id)
    }
    const eight = await end(8)
    expect(app.messages).toEqual([eight.map((id) => line(id)).join('\n\n')])
    expect(app.delivered[0]?.notice.summary).toBe(`8 background jobs finished: ${eight.join(', ')}`)
    const nine = await end(9)
    expect(app.messages[1]).toBe(
      `${nine
        .slice(0, 8)
        .map((id) => line(id))
        .join('\n\n')}\n\n[1 more jobs finished; see job_list]`,
    )
    expect(app.jobs.dueNotices()).toEqual([])
    const single = [app.start(), app.start(), app.start()]
    for (const producer of single) {
      void producer.end()
      await drained()
    }
    expect(app.messages.slice(2)).toEqual(single.map(({ id }) => line(id)))
  })

  it('JB-73 shows the last whole lines of what is unread, within 400 bytes, and consumes nothing', async () => {
    const producer = app.start()
    producer.stdout.write(`${'x'.repeat(100)}\n`.repeat(5))
    producer.stdout.write('the end ä🦀\n')
    await producer.end()
    await drained()
    const preview = `${'x'.repeat(100)}\n`.repeat(3).concat('the end ä🦀')
    expect(app.messages).toEqual([`${line(producer.id)}\n[last output]\n${preview}`])
    expect(await app.shown('job_output', { job_id: producer.id })).toContain(`${'x'.repeat(100)}\n`.repeat(5))
  })

  it('JB-73 begins with a whole line also where blank lines follow', async () => {
    const producer = app.start()
    producer.stdout.write(`${'x'.repeat(300)}\n${'y'.repeat(200)}\n${'\n'.repeat(60)}`)
    await producer.end()
    await drained()
    expect(app.messages).toEqual([`${line(producer.id)}\n[last output]\n${'y'.repeat(200)}`])
  })

  it('JB-73 leaves out what was read, takes standard error along, and cuts a line that is too long on a whole character', async () => {
    const [read, both, long] = [app.start(), app.start(), app.start()]
    read.stdout.write('read already\n')
    await app.call('job_output', { job_id: read.id })
    both.stdout.write('old\n')
    await app.call('job_output', { job_id: both.id })
    both.stdout.write('out')
    both.stderr.write('err\n')
    long.stdout.write('🦀'.repeat(1_000))
    for (const producer of [read, both, long]) {
      await producer.end()
      await drained()
    }
    expect(app.messages.slice(0, 2)).toEqual([line(read.id), `${line(both.id)}\n[last output]\nout\n[stderr]\nerr`])
    const [, , cut] = app.messages[2]?.split('\n') ?? []
    expect(cut).toBe('🦀'.repeat(100))
  })

  it('JB-74 reaches the exact owner only, and a closed one gets nothing', async () => {
    const twin = app.open('one')
    await app.start({ owner: twin }).end()
    await drained()
    expect(app.delivered).toHaveLength(1)
    expect(app.delivered[0]?.to).toBe(twin)
    const closed = app.open('closed')
    const ended = app.start({ owner: closed }).end()
    const closing = closed.scope.close()
    await Promise.all([ended, closing])
    await drained()
    expect(app.delivered).toHaveLength(1)
  })

  it('JB-70 what was claimed is told although whoever heard of the claim removed another job', async () => {
    const [first, second] = [app.start(), app.start()]
    app.jobs.subscribe(app.kernel.scope, 'all', ({ type }) => {
      const isClaimed = app.jobs.list('host').some(({ id, notice }) => id === first.id && notice === 'sent')
      if (type === 'changed' && isClaimed && app.jobs.list('host').length === 2) app.jobs.remove(second.id, 'host')
    })
    void first.end()
    void second.end()
    await drained()
    expect(app.messages).toEqual([line(first.id)])
    expect(app.complaints).toEqual([])
  })

  it('JB-74 a deliver that rejects is logged as one that throws, and harms nobody', async () => {
    const deliver = (async () => Promise.reject(new Error('no model'))) as never
    const deaf = openSession(app.kernel.scope, { id: 'deaf', cwd: '/', deliver })
    const mute = app.start({ owner: deaf })
    await mute.end()
    await drained()
    expect(app.complaints).toEqual([`session "deaf" did not take the notice of ${mute.id}`])
  })

  it('JB-74 a deliver that throws is logged with its session and jobs, and not repeated', async () => {
    let calls = 0
    const deliver = () => {
      calls++
      throw new Error('no model')
    }
    const deaf = openSession(app.kernel.scope, { id: 'deaf', cwd: '/', deliver })
    const [mute, heard] = [app.start({ owner: deaf }), app.start()]
    void mute.end()
    void heard.end()
    await drained()
    await drained()
    expect([calls, app.messages]).toEqual([1, [line(heard.id)]])
    expect(app.log.filter(({ level }) => level === 'warn')).toMatchObject([
      { message: `session "deaf" did not take the notice of ${mute.id}`, fields: { session: 'deaf', jobs: [mute.id] } },
    ])
  })
})
