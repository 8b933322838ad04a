import { getEventListeners } from 'node:events'
import type { JobFollow, JobId } from '@tenon/jobs'
import { settled } from '@tenon/jobs/conformance'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { human, type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs({ maxDetachedPerOwner: 64 })
})
afterEach(() => app[Symbol.asyncDispose]())

/** Follows until the end, or until a test has seen enough. */
class Followed {
  readonly items: JobFollow[] = []
  readonly over: Promise<void>
  readonly iterator: AsyncIterator<JobFollow>

  constructor(id: JobId, options: Partial<Parameters<typeof app.jobs.follow>[1]> = {}) {
    const followed = app.jobs.follow(id, { caller: 'host', ...options })
    this.iterator = followed[Symbol.asyncIterator]()
    this.over = this.#run()
  }

  async #run(): Promise<void> {
    for (let next = await this.iterator.next(); !next.done; next = await this.iterator.next()) this.items.push(next.value)
  }

  get types(): string {
    return this.items.map((item) => (item.type === 'status' || item.type === 'end' ? `${item.type} ${item.job.status}` : item.type)).join(', ')
  }

  text(channel = 'stdout'): string {
    return this.items
      .flatMap((item) => (item.type === 'output' ? item.chunks : []))
      .filter((chunk) => chunk.channel === channel)
      .map(({ text }) => text)
      .join('')
  }
}

describe('following', () => {
  it('JB-39 from 0 yields every retained byte, from next repeats none', async () => {
    const producer = app.start()
    producer.stdout.write('early ')
    const all = new Followed(producer.id)
    await settled()
    const last = all.items.at(-1)
    const from = last?.type === 'output' ? last.next : {}
    const rest = new Followed(producer.id, { from })
    await settled()
    producer.stdout.write('late')
    producer.stderr.write('err')
    await settled()
    await producer.end()
    await Promise.all([all.over, rest.over])
    expect([all.text(), all.text('stderr')]).toEqual(['early late', 'err'])
    expect([rest.text(), rest.text('stderr')]).toEqual(['late', 'err'])
    expect(rest.items[0]).toMatchObject({ type: 'opened', from: { stdout: 6, stderr: 0 }, job: { id: producer.id } })
    expect(all.types).toBe('opened, output, output, status completed, end completed')
  })

  it('JB-39 a status per transition, end last, also when all was there before, and after the record has gone', async () => {
    const producer = app.start()
    const followed = new Followed(producer.id)
    await settled()
    app.jobs.kill(producer.id, 'host', human)
    producer.stdout.write('last words')
    const ended = producer.end({ status: 'killed' })
    app.jobs.subscribe(app.kernel.scope, 'all', (event) => {
      if (event.type === 'settled') app.jobs.remove(event.job.id, 'host')
    })
    await ended
    await followed.over
    expect(followed.types).toBe('opened, status stopping, output, status killed, end killed')
    expect(followed.text()).toBe('last words')
    const done = app.start()
    done.stdout.write('x')
    await done.end()
    expect(() => app.jobs.follow(done.id, { caller: 'host' })).toThrow(expect.objectContaining({ code: 'JOB_UNKNOWN' }))
  })

  it('JB-39 of a settled job: its output, and the end; what survivors write later is not waited for and stays readable', async () => {
    const producer = app.start()
    producer.stdout.write('a')
    await producer.end()
    producer.stdout.write('b')
    const followed = new Followed(producer.id)
    await followed.over
    expect(followed.types).toBe('opened, output, end completed')
    expect(followed.text()).toMatch(/^ab?$/)
    producer.stdout.write('c')
    await settled()
    expect(app.jobs.readAt(producer.id, {}, 'host').chunks).toMatchObject([{ text: 'abc' }])
    expect(producer.stdout.pending).toBe(0)
  })

  it('follows a job whose output comes later, and a final value', async () => {
    const producer = app.start({ attached: false })
    const followed = new Followed(producer.id)
    await settled()
    producer.attach({ channels: { stdout: producer.stdout } })
    await settled()
    producer.stdout.write('now')
    await settled()
    await producer.end({ status: 'completed', value: 'answer' })
    await followed.over
    expect([followed.text(), followed.text('result')]).toEqual(['now', 'answer'])
  })

  it('an unfinished character is held back without keeping anybody busy, and is shown at the end of its stream', async () => {
    const producer = app.start()
    const followed = new Followed(producer.id)
    producer.stdout.write(Uint8Array.from([0x61, 0xf0, 0x9f]))
    await settled()
    const { calls } = producer.stdout
    await settled()
    expect(producer.stdout.calls).toBe(calls)
    expect(followed.text()).toBe('a')
    producer.stdout.finish()
    await settled()
    expect(followed.text()).toBe('a\ufffd')
    await producer.end()
    await followed.over
  })

  it('JB-40 a slow follower holds nothing, is told of its gap, and does not slow down another', async () => {
    const producer = app.start({ keep: 1_000 })
    const quick = new Followed(producer.id)
    const slow = app.jobs.follow(producer.id, { caller: 'host' })[Symbol.asyncIterator]()
    expect((await slow.next()).value).toMatchObject({ type: 'opened' })
    for (let n = 0; n < 100; n++) {
      producer.stdout.write('x'.repeat(1_000))
      await settled()
    }
    expect(quick.text()).toHaveLength(100_000)
    expect((await slow.next()).value).toMatchObject({ type: 'output', chunks: [{ at: 99_000, dropped: 99_000 }], next: { stdout: 100_000 } })
    await slow.return?.()
    expect(() => app.jobs.follow(producer.id, { caller: app.open('two') })).toThrow(expect.objectContaining({ code: 'JOB_FOREIGN' }))
    await producer.end()
    await quick.over
  })

  it('JB-40 larger growth is split into items of 65,536 bytes', async () => {
    const producer = app.start()
    producer.stdout.write('x'.repeat(200_000))
    const followed = new Followed(producer.id)
    await producer.end()
    await followed.over
    const sizes = followed.items.flatMap((item) => (item.type === 'output' ? [item.chunks.reduce((sum, { text }) => sum + text.length, 0)] : []))
    expect(sizes).toEqual([65_536, 65_536, 65_536, 200_000 - 3 * 65_536])
  })

  it('JB-41 a signal, return() and the end of the session each leave nothing behind', async () => {
    const producer = app.start()
    const controller = new AbortController()
    const bySignal = new Followed(producer.id, { signal: controller.signal })
    const byReturn = new Followed(producer.id)
    const bySession = new Followed(producer.id, { caller: app.session })
    await settled()
    expect(producer.stdout.pending).toBe(3)
    controller.abort()
    await bySignal.over
    await byReturn.iterator.return?.()
    await byReturn.over
    await settled()
    expect([producer.stdout.pending, getEventListeners(controller.signal, 'abort').length]).toEqual([1, 0])
    const closing = app.session.scope.close()
    await bySession.over
    await settled()
    expect([producer.stdout.pending, producer.stderr.pending]).toEqual([0, 0])
    await producer.end()
    await closing
    const over = new Followed(app.start({ owner: app.open('two') }).id, { signal: controller.signal })
    await over.over
    expect(over.items).toEqual([])
  })

  it('JB-41 twenty followed idle jobs ask nothing and wake nobody', async () => {
    const producers = Array.from({ length: 20 }, () => app.start())
    const followed = producers.map(({ id }) => new Followed(id))
    await settled()
    const calls = () => producers.map(({ stdout, stderr }) => stdout.calls + stderr.calls)
    const before = calls()
    app.clock.advance(10_000)
    for (let n = 0; n < 20; n++) await settled()
    expect(calls()).toEqual(before)
    expect(app.clock.timers).toBe(0)
    await Promise.all(followed.map(async ({ iterator }) => iterator.return?.()))
  })

  it('JB-41 a reader that says it has changed when it has not keeps nobody from their turn', async () => {
    const producer = app.start({ attached: false })
    let asked = 0
    const lying = Object.assign(Object.create(producer.stdout) as typeof producer.stdout, {
      size: () => 0,
      earliest: () => 0,
      finished: false,
      spillPath: undefined,
      readFrom: (offset: number) => ({ text: '', startOffset: offset, nextOffset: offset, lossy: false }),
      changed: async () => ++asked > 0,
    })
    producer.attach({ channels: { stdout: lying } })
    const { iterator } = new Followed(producer.id)
    for (let n = 0; n < 10; n++) await settled()
    // Had it been asked without a pause, this line would never be reached.
    expect(asked).toBeGreaterThan(1)
    await iterator.return?.()
    await settled()
    const after = asked
    for (let n = 0; n < 5; n++) await settled()
    expect(asked).toBe(after)
  })

  it('an unfollowed job asks no reader', () => {
    const producer = app.start()
    const { calls } = producer.stdout
    producer.stdout.write('x')
    app.jobs.kill(producer.id, 'host', human)
    expect(producer.stdout.pending).toBe(0)
    // The write asks for its own size; views do for the sizes they show.
    expect(producer.stdout.calls - calls).toBeLessThan(8)
  })

  it('a reader that fails is told once, and the status and other channels go on', async () => {
    const producer = app.start()
    const followed = new Followed(producer.id)
    await settled()
    producer.stderr.write('first')
    await settled()
    producer.stdout.broken = new Error('gone')
    producer.stderr.write(' second')
    await settled()
    producer.stderr.write(' third')
    await producer.end()
    await followed.over
    const errors = followed.items.flatMap((item) => (item.type === 'output' ? item.chunks : [])).filter(({ error }) => error !== undefined)
    expect(errors).toEqual([{ channel: 'stdout', at: 0, text: '', dropped: 0, error: 'gone' }])
    expect([followed.text('stderr'), followed.types.endsWith('status completed, end completed')]).toEqual(['first second third', true])
  })

  it('several next() at once are served in order', async () => {
    const producer = app.start()
    const iterator = app.jobs.follow(producer.id, { caller: 'host' })[Symbol.asyncIterator]()
    const three = [iterator.next(), iterator.next(), iterator.next()]
    producer.stdout.write('x')
    await producer.end()
    const last = iterator.next()
    expect((await Promise.all([...three, last])).map(({ value }) => value?.type)).toEqual(['opened', 'output', 'status', 'end'])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })
})
