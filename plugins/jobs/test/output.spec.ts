import type { JobRead } from '@tenon/jobs'
import { settled } from '@tenon/jobs/conformance'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Opened, openJobs } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

const textOf = ({ chunks }: JobRead, channel = 'stdout') =>
  chunks
    .filter((chunk) => chunk.channel === channel)
    .map(({ text }) => text)
    .join('')
const read = (id: string, options?: { maxBytes?: number; tailLines?: number }) => app.jobs.read(id, app.session, options)

describe('the model’s cursor', () => {
  it('JB-32 reads concatenate to the exact stream per channel, whatever else reads, and across a detach', async () => {
    const producer = app.start({ attachment: 'foreground' })
    const followers = [0, 1].map(async () => {
      let text = ''
      for await (const item of app.jobs.follow(producer.id, { caller: 'host' })) {
        if (item.type === 'output') for (const chunk of item.chunks) if (chunk.channel === 'stdout') text += chunk.text
      }
      return text
    })
    const [written, got] = [
      { stdout: '', stderr: '' },
      { stdout: '', stderr: '' },
    ]
    const take = (options?: { maxBytes: number }) => {
      const page = read(producer.id, options)
      for (const channel of ['stdout', 'stderr'] as const) got[channel] += textOf(page, channel)
    }
    for (let n = 0; n < 200; n++) {
      const channel = n % 3 === 0 ? 'stderr' : 'stdout'
      const text = `${channel} ${n} ä€🦀${'.'.repeat((n * 7) % 40)}\n`
      producer[channel].write(text)
      written[channel] += text
      if (n % 5 === 0) app.jobs.readAt(producer.id, { stdout: 0 }, 'host')
      if (n % 7 === 0) take({ maxBytes: 8 + (n % 90) })
      if (n === 100) app.jobs.detach(producer.id, app.session)
      if (n % 20 === 0) await settled()
    }
    await producer.end()
    take()
    expect(await Promise.all(followers)).toEqual([written.stdout, written.stdout])
    expect(got).toEqual(written)
    expect(app.jobs.readAt(producer.id, 'unread', 'host')).toMatchObject({ chunks: [], unread: 0 })
  })

  it('JB-32 pages of any size add up to the stream', () => {
    const producer = app.start()
    const stream = Array.from({ length: 500 }, (_, n) => `${n}: ä€🦀\n`).join('')
    for (const size of [4, 5, 7, 13, 64, 1_000]) {
      const other = app.start({ owner: app.open(`of ${size}`) })
      other.stdout.write(stream)
      other.stderr.write(stream.slice(0, 300))
      let [out, err, pages] = ['', '', 0]
      for (let left = 1; left > 0; pages++) {
        const page = app.jobs.read(other.id, app.jobs.ownerOf(other.id), { maxBytes: size })
        const bytes = page.chunks.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
        expect(bytes).toBeLessThanOrEqual(size)
        expect(bytes).toBeGreaterThan(0)
        out += textOf(page)
        err += textOf(page, 'stderr')
        left = page.unread
      }
      expect([out, err]).toEqual([stream, stream.slice(0, 300)])
      expect(pages).toBeGreaterThan(1)
    }
    expect(producer.stdout.size()).toBe(0)
  })

  it('JB-37 a backlog of ten megabytes arrives in pages without loss', () => {
    const producer = app.start()
    const line = `${'x'.repeat(99)}\n`
    producer.stdout.write(line.repeat(104_858))
    producer.stdout.ceiling = 30_000
    let [bytes, pages, unread] = [0, 0, 1]
    while (unread > 0) {
      const page = read(producer.id)
      expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(64_000)
      expect(page.from.stdout).toBe(bytes)
      bytes += Buffer.byteLength(textOf(page))
      expect(page.unread).toBe(10_485_800 - bytes)
      unread = page.unread
      pages++
    }
    expect([bytes, pages]).toEqual([10_485_800, Math.ceil(10_485_800 / 64_000)])
  })

  it('JB-37 the last lines count what they pass over, and the next read goes on after them', () => {
    const producer = app.start()
    producer.stdout.write('one\ntwo\nthree\nfour\n')
    const tail = read(producer.id, { tailLines: 2 })
    expect(tail).toMatchObject({ chunks: [{ channel: 'stdout', at: 8, text: 'three\nfour\n', dropped: 0 }], skipped: 8, unread: 0 })
    expect([tail.from.stdout, tail.next.stdout]).toEqual([8, 19])
    producer.stdout.write('five')
    expect(textOf(read(producer.id))).toBe('five')
    // Read or not: these are the last lines there are.
    expect(read(producer.id, { tailLines: 1 })).toMatchObject({ chunks: [{ text: 'five' }], skipped: 0 })
    expect(textOf(read(producer.id, { tailLines: 100 }))).toBe('one\ntwo\nthree\nfour\nfive')
    expect(read(producer.id)).toMatchObject({ chunks: [], unread: 0 })
  })

  it('the last lines are found in long output, in both channels, within the limit, and count bytes that are no text', () => {
    const producer = app.start()
    producer.stdout.write(`${'a line\n'.repeat(50_000)}last\n`)
    producer.stderr.write('one\ntwo\n')
    expect(read(producer.id, { tailLines: 1 })).toMatchObject({ chunks: [{ text: 'last\n' }, { text: 'two\n' }], skipped: 350_000 + 4 })
    producer.stdout.write('y'.repeat(100_000))
    const cut = read(producer.id, { tailLines: 3, maxBytes: 1_000 })
    expect(cut.chunks.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(1_000)
    expect(cut.next.stdout).toBe(producer.stdout.size())
    expect(cut.skipped).toBe(100_000 - (producer.stdout.size() - (cut.from.stdout ?? 0)))
    const odd = app.start()
    odd.stdout.write(Uint8Array.from([0xff, 0xfe, 0x41, 0x0a, 0x42, 0x0a]))
    expect(read(odd.id, { tailLines: 1 })).toMatchObject({ chunks: [{ at: 4, text: 'B\n' }], skipped: 4 })
  })

  it('of two channels a page gives each its part, and what one does not need to the other', () => {
    const producer = app.start()
    producer.stdout.write('o'.repeat(1_000))
    producer.stderr.write('e'.repeat(10))
    expect(read(producer.id, { maxBytes: 100 }).next).toEqual({ stdout: 90, stderr: 10 })
    producer.stderr.write('e'.repeat(1_000))
    expect(read(producer.id, { maxBytes: 100 }).next).toEqual({ stdout: 140, stderr: 60 })
  })

  it.each([{ maxBytes: 3 }, { maxBytes: 1.5 }, { maxBytes: Number.NaN }, { tailLines: 0 }, { tailLines: -1 }, { tailLines: 1.5 }])(
    'a read with %j is refused and moves nothing',
    (options) => {
      const producer = app.start()
      producer.stdout.write('text')
      expect(() => read(producer.id, options)).toThrow(expect.objectContaining({ code: 'JOB_SPEC_INVALID' }))
      expect(textOf(read(producer.id))).toBe('text')
    },
  )
})

describe('reading at offsets', () => {
  it('JB-33 equal offsets give equal text while it is retained; before attach there is none', () => {
    const producer = app.start({ attached: false })
    expect(app.jobs.readAt(producer.id, {}, 'host')).toMatchObject({ chunks: [], from: {}, next: {}, unread: 0 })
    expect(read(producer.id)).toMatchObject({ chunks: [], unread: 0, skipped: 0 })
    producer.attach({ channels: { stdout: producer.stdout } })
    producer.stdout.write('0123456789')
    const first = app.jobs.readAt(producer.id, { stdout: 3 }, app.session, 4)
    expect(first).toMatchObject({ chunks: [{ channel: 'stdout', at: 3, text: '3456', dropped: 0 }], next: { stdout: 7 }, unread: 3 })
    expect(textOf(read(producer.id))).toBe('0123456789')
    expect(app.jobs.readAt(producer.id, { stdout: 3 }, app.session, 4).chunks).toEqual(first.chunks)
  })

  it('JB-33 a second attach throws; one after the settlement is ignored with a warning', async () => {
    const producer = app.start()
    expect(() => producer.attach({ channels: {} })).toThrow(expect.objectContaining({ code: 'JOB_SPEC_INVALID' }))
    const late = app.start({ attached: false })
    await late.end()
    late.attach({ channels: { stdout: late.stdout } })
    expect(app.get(late.id).output).toEqual({})
    expect(app.complaints).toEqual([`job ${late.id} had already settled: its output was attached too late and is not shown`])
    const odd = app.start({ attached: false })
    for (const output of [undefined, {}, { channels: null }, { channels: { stdout: {} } }]) {
      expect(() => odd.attach(output as never)).toThrow(expect.objectContaining({ code: 'JOB_SPEC_INVALID' }))
    }
    for (const name of ['', '[status]', 'a b', '__proto__', '1']) {
      const channels = Object.fromEntries([[name, odd.stdout]])
      expect(() => odd.attach({ channels })).toThrow(expect.objectContaining({ code: 'JOB_SPEC_INVALID' }))
    }
    odd.attach({ channels: { stdout: odd.stdout } })
  })

  it('JB-34 a character split over two writes is never broken, and an offset inside one moves forward', async () => {
    const producer = app.start()
    const crab = Buffer.from('🦀')
    producer.stdout.write(Buffer.concat([Buffer.from('a'), crab.subarray(0, 2)]))
    expect(read(producer.id)).toMatchObject({ chunks: [{ text: 'a' }], next: { stdout: 1 }, unread: 2 })
    producer.stdout.write(crab.subarray(2))
    expect(textOf(read(producer.id))).toBe('🦀')
    producer.stdout.write('b')
    const inside = app.jobs.readAt(producer.id, { stdout: 3 }, 'host')
    expect(inside).toMatchObject({ chunks: [{ at: 5, text: 'b', dropped: 0 }], next: { stdout: 6 } })
    const value = app.start({ attached: false })
    await value.end({ status: 'completed', value: 'é🦀' })
    expect(app.jobs.readAt(value.id, { result: 1 }, 'host', 4)).toMatchObject({ chunks: [{ at: 2, text: '🦀' }], next: { result: 6 } })
    expect(app.jobs.readAt(value.id, {}, 'host', 5).next).toEqual({ result: 2 })
  })

  it.each([
    [{ stdout: -1 }, 'stdout=-1'],
    [{ stdout: 1.5 }, 'stdout=1.5'],
    [{ stdout: Number.NaN }, 'stdout=NaN'],
    [{ stdout: 5 }, 'stdout=5'],
    [{ stdout: '1' as never }, 'stdout="1"'],
    [{ nope: 0 }, 'nope=0'],
    [JSON.parse('{"__proto__": 0}') as Record<string, number>, '"__proto__"=0'],
  ])('JB-35 %j is refused', (offsets, shown) => {
    const producer = app.start()
    producer.stdout.write('four')
    const refusal = expect.objectContaining({ code: 'JOB_OFFSET_INVALID', message: `invalid output offset: ${shown}` })
    expect(() => app.jobs.readAt(producer.id, offsets, 'host')).toThrow(refusal)
    expect(() => app.jobs.follow(producer.id, { caller: 'host', from: offsets })).toThrow(refusal)
    expect(app.jobs.readAt(producer.id, { stdout: 4 }, 'host').chunks).toEqual([])
  })
})

describe('loss and faults', () => {
  it('JB-36 dropped bytes are counted on the chunk after the gap, and a spill path is named while there is one', () => {
    const producer = app.start({ keep: 10 })
    producer.stdout.write('0123456789abcdefghij')
    expect(read(producer.id)).toMatchObject({ chunks: [{ at: 10, text: 'abcdefghij', dropped: 10 }], next: { stdout: 20 }, unread: 0 })
    producer.stdout.write('k')
    expect(read(producer.id)).toMatchObject({ chunks: [{ at: 20, text: 'k', dropped: 0 }] })
    producer.stdout.spillPath = '/spill/1'
    expect(app.get(producer.id).output.stdout).toEqual({ size: 21, earliest: 11, spillPath: '/spill/1' })
    producer.stdout.spillPath = undefined
    expect(app.get(producer.id).output.stdout).toEqual({ size: 21, earliest: 11 })
    producer.stdout.write('0123456789abcdefghij')
    expect(read(producer.id, { tailLines: 5 })).toMatchObject({ chunks: [{ at: 31, text: 'abcdefghij', dropped: 10 }], skipped: 0 })
  })

  it('JB-36 a failing reader is told apart from no output, with one warning; other channels are untouched', () => {
    const producer = app.start()
    producer.stdout.write('seen')
    app.get(producer.id)
    producer.stdout.broken = new Error('disk gone')
    producer.stderr.write('fine')
    for (let n = 0; n < 2; n++) {
      const { chunks, next } = app.jobs.readAt(producer.id, {}, 'host')
      expect(chunks).toEqual([
        { channel: 'stdout', at: 0, text: '', dropped: 0, error: 'disk gone' },
        { channel: 'stderr', at: 0, text: 'fine', dropped: 0 },
      ])
      expect(next).toEqual({ stdout: 0, stderr: 4 })
    }
    expect(app.get(producer.id)).toMatchObject({ status: 'running', output: { stdout: { size: 4 } } })
    expect(app.complaints).toEqual(['output of job test-1 could not be read: disk gone'])
    producer.stdout.broken = new Error('disk gone\n[status: completed]')
    expect(read(producer.id, { tailLines: 1 })).toMatchObject({ chunks: [{ channel: 'stdout', error: 'disk gone' }, { text: 'fine' }] })
    expect(app.jobs.readAt(producer.id, 'unread', 'host').from).toEqual({ stdout: 0, stderr: 4 })
    producer.stdout.broken = undefined
    producer.stdout.error = 'spill lost'
    expect(app.jobs.readAt(producer.id, {}, 'host').chunks[0]).toEqual({
      channel: 'stdout',
      at: 0,
      text: 'seen',
      dropped: 0,
      error: 'spill lost',
    })
  })
})

describe('a reader that answers what is no answer', () => {
  const noSizes = 'its reader gave no valid sizes'
  const noText = 'its reader gave no valid text with offsets'
  it.each<[string, object, string]>([
    ['a size that is none', { size: () => Number.NaN }, noSizes],
    ['a size in text', { size: () => '4' }, noSizes],
    ['a beginning before the beginning', { earliest: () => -1 }, noSizes],
    ['a file that is none', { spillPath: null }, noSizes],
    ['no text', { readFrom: () => ({ text: undefined, startOffset: 0, nextOffset: 0, lossy: false }) }, noText],
    ['half an offset', { readFrom: () => ({ text: '', startOffset: 0, nextOffset: 0.5, lossy: false }) }, noText],
    ['nothing', { readFrom: () => undefined }, "Cannot destructure property 'text' of"],
  ])('JB-36 %s is a failing one: status and other channels are untouched', async (_what, change, told) => {
    const producer = app.start()
    producer.stdout.write('seen')
    producer.stderr.write('fine')
    for (const [key, value] of Object.entries(change)) Object.defineProperty(producer.stdout, key, { value })
    await producer.end()
    const { job, chunks } = read(producer.id)
    expect(job.status).toBe('completed')
    expect(chunks.find(({ channel }) => channel === 'stderr')).toMatchObject({ text: 'fine' })
    if (told === noSizes) expect(job.output.stdout).toEqual({ size: 0, earliest: 0 })
    else expect(chunks[0]).toMatchObject({ channel: 'stdout', text: '', error: expect.stringContaining(told) })
    expect(app.complaints).toEqual([expect.stringContaining(`output of job test-1 could not be read: ${told}`)])
  })
})

describe('a final value', () => {
  it('JB-38 is empty while live, once by read, any time by readAt', async () => {
    const producer = app.start({ attached: false })
    expect(read(producer.id).chunks).toEqual([])
    await producer.end({ status: 'completed', value: 'the answer' })
    expect(read(producer.id)).toMatchObject({ chunks: [{ channel: 'result', at: 0, text: 'the answer' }], unread: 0 })
    expect(read(producer.id).chunks).toEqual([])
    for (let n = 0; n < 2; n++) expect(textOf(app.jobs.readAt(producer.id, {}, 'host'), 'result')).toBe('the answer')
    expect(app.get(producer.id).output).toEqual({ result: { size: 10, earliest: 0 } })
  })

  it('JB-38 a job without output reads empty', async () => {
    const producer = app.start({ attached: false })
    await producer.end()
    expect(read(producer.id)).toMatchObject({ chunks: [], from: {}, next: {}, unread: 0, skipped: 0 })
    expect(read(producer.id, { tailLines: 3 })).toMatchObject({ chunks: [], unread: 0 })
  })

  it('comes after the channels of the producer, and never in place of one', async () => {
    const both = app.start()
    both.stdout.write('log')
    await both.end({ status: 'completed', value: 'answer' })
    expect(Object.keys(app.get(both.id).output)).toEqual(['stdout', 'stderr', 'result'])
    const taken = app.start({ attached: false })
    taken.attach({ channels: { result: taken.stdout } })
    taken.stdout.write('mine')
    await taken.end({ status: 'completed', value: 'answer' })
    expect(textOf(read(taken.id), 'result')).toBe('mine')
    expect(app.complaints).toEqual([`job ${taken.id} has an output channel "result": its final value is dropped`])
  })
})
