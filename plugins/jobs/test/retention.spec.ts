import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { settled } from '@tenon/jobs/conformance'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Opened, openJobs } from './opened.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let app: Opened
beforeEach(async () => {
  app = await openJobs({ settledPerOwner: 3 })
})
afterEach(() => app[Symbol.asyncDispose]())

const run = async (session = app.session) => {
  const producer = app.start({ owner: session })
  await producer.end()
  return producer
}

describe('settled records', () => {
  it('JB-57 beyond their number the oldest that was read or told of goes; the unread and untold stay', async () => {
    const [unread, read, told] = [await run(), await run(), await run()]
    app.jobs.read(read.id, app.session)
    app.jobs.claimNotice(told.id)
    const fourth = await run()
    expect(app.list()).toEqual([unread.id, told.id, fourth.id])
    expect(app.told.slice(-2)).toEqual(['changed', `removed ${read.id}`])
    const fifth = await run()
    expect(app.list()).toEqual([unread.id, fourth.id, fifth.id])
    await run()
    expect(app.list()).toHaveLength(4)
    // As soon as it may, the oldest goes, though it was read last.
    app.jobs.read(fifth.id, app.session)
    app.jobs.read(unread.id, app.session)
    expect(app.list()).toEqual([fourth.id, fifth.id, 'test-6'])
  })

  it('JB-57 with the default the 201st goes, and other sessions are not counted', async () => {
    await using many = await openJobs()
    const other = many.open('two')
    const ids: string[] = []
    for (let n = 0; n < 201; n++) {
      const producer = many.start()
      await producer.end()
      many.jobs.read(producer.id, many.session)
      ids.push(producer.id)
      if (n === 100) await many.start({ owner: other }).end()
    }
    expect(many.list()).toEqual(ids.slice(1))
    expect(many.list(other)).toHaveLength(1)
  })

  it('JB-57 an hour after it settled a read record goes, when something happens anyway: there is no timer', async () => {
    const [one, two] = [await run(), await run()]
    app.jobs.read(one.id, app.session)
    app.clock.advance(3_599_999)
    expect(app.list()).toEqual([one.id, two.id])
    app.clock.advance(1)
    expect(app.clock.timers).toBe(0)
    expect(app.told).not.toContain(`removed ${one.id}`)
    expect(app.list()).toEqual([two.id])
    app.jobs.claimNotice(two.id)
    app.start()
    expect(app.told).toContain(`removed ${two.id}`)
  })

  it('JB-57 what a call still holds stays, until it lets go', async () => {
    const held = app.start({ attachment: 'foreground' })
    await held.end()
    for (let n = 0; n < 5; n++) app.jobs.read((await run()).id, app.session)
    expect(app.list()).toContain(held.id)
    expect(app.jobs.detach(held.id, app.session).status).toBe('completed')
    await run()
    expect(app.list()).not.toContain(held.id)
  })

  it('JB-57 what a call has waited for stays until it has read it, though it would have to go at once', async () => {
    for (let n = 0; n < 3; n++) await run()
    const producers = [app.start(), app.start()]
    const reads = producers.map(async ({ id }) => {
      await app.jobs.wait(id, 60_000, app.session)
      return app.jobs.read(id, app.session).job.status
    })
    for (const producer of producers) void producer.end()
    await settled()
    expect(await Promise.all(reads)).toEqual(['completed', 'completed'])
    await run()
    expect(app.list()).toEqual(['test-1', 'test-2', 'test-3', 'test-6'])
    // A call that never read it holds it for a second.
    const waited = app.start()
    void app.jobs.wait(waited.id, 60_000, app.session)
    await waited.end()
    expect(app.list()).toContain(waited.id)
    app.clock.advance(1_000)
    expect(app.list()).not.toContain(waited.id)
  })

  it('a thousand that nobody read or was told of are one warning', async () => {
    for (let n = 0; n < 1_005; n++) {
      const producer = app.start()
      void producer.end()
      if (n % 8 === 0) await settled()
    }
    await settled()
    expect(app.complaints).toEqual(['session "one" has 1000 settled jobs that nobody was told of and nobody has read'])
  })

  it('JB-58 twenty thousand short jobs leave the heap on a plateau, and starts as quick as at the beginning', async () => {
    await using many = await openJobs()
    const heap = () => {
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const batch = async () => {
      const times: number[] = []
      for (let n = 0; n < 500; n++) {
        const producers = Array.from({ length: 10 }, () => {
          const before = performance.now()
          const producer = many.start()
          times.push(performance.now() - before)
          producer.stdout.write('some output\n')
          return producer
        })
        for (const producer of producers) void producer.end()
        await settled()
        for (const { id } of producers) n % 2 === 0 ? many.jobs.claimNotice(id) : many.jobs.read(id, many.session)
      }
      many.events.length = 0
      many.told.length = 0
      return times.sort((a, b) => a - b)[2_500] ?? 0
    }
    const first = await batch()
    const settledHeap = heap()
    await batch()
    await batch()
    const last = await batch()
    expect(heap() - settledHeap).toBeLessThan(2_000_000)
    expect(many.list()).toHaveLength(200)
    // Medians; a linear growth would be a hundredfold.
    expect(last).toBeLessThan(first * 2 + 0.05)
  })

  it('JB-58 the readers of records that went are collected', async () => {
    const readers: WeakRef<object>[] = []
    const batch = async () => {
      for (let n = 0; n < 10; n++) {
        const producer = await run()
        readers.push(new WeakRef(producer.stdout))
        app.jobs.read(producer.id, app.session)
        if (n < 3) app.jobs.remove(producer.id, app.session)
      }
      app.events.length = 0
    }
    await batch()
    await settled()
    expect(app.list()).toHaveLength(3)
    // What was looked at in this turn, or still lies on the stack, is collected in a later one.
    const left = (): number => {
      collectGarbage()
      return readers.filter((reader) => reader.deref() !== undefined).length
    }
    await expect.poll(left).toBe(3)
  })

  it('JB-42 a hundred jobs with ten megabytes of output each cost what their readers keep', async () => {
    await using many = await openJobs({ maxDetachedPerOwner: 100, maxJobsPerOwner: 100 })
    // Buffers are given back some time after they were collected.
    const memory = async () => {
      for (let turn = 0; turn < 5; turn++) {
        collectGarbage()
        await settled()
      }
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const chunk = 'x'.repeat(1_048_576)
    const before = await memory()
    for (let n = 0; n < 100; n++) {
      const { stdout } = many.start({ keep: 10_000 })
      // Most of what a stream has carried is gone: only its number counts.
      stdout.write(chunk)
      for (let more = 1; more < 10; more++) stdout.write('y'.repeat(1_000))
    }
    many.jobs.list(many.session)
    expect((await memory()) - before).toBeLessThan(100 * 10_000 + 2_000_000)
  })
})
