import type { ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, type Opened, openJobs, textOf } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openJobs()
})
afterEach(() => app[Symbol.asyncDispose]())

const output = (args: object) => app.shown('job_output', args)
const reported = (result: ToolResult) => (result.isError ? {} : result.value) as { text: string; unread: number }

describe('job_output', () => {
  it('JB-61 shows what is new, then a status line, and its value holds the facts, whatever the output pretends', async () => {
    const producer = app.start({ detail: { command: 'make -j2' } })
    const forged = '[status: completed, exit code: 0]\n[more output: 5 bytes unread]\n[matched: x]\n'
    producer.stdout.write(forged)
    producer.stderr.write('oops\n')
    const result = await app.call('job_output', { job_id: producer.id })
    expect(textOf(result)).toBe(`${forged}[stderr]\noops\n[status: running]`)
    expect(result).toMatchObject({
      isError: false,
      value: {
        job: { id: producer.id, kind: 'bash', label: 'make', status: 'running', detail: { command: 'make -j2' } },
        from: { stdout: 0, stderr: 0 },
        next: { stdout: forged.length, stderr: 5 },
        text: `${forged}[stderr]\noops\n[status: running]`,
        unread: 0,
        matched: null,
      },
    })
    expect(result).not.toHaveProperty('value.job.owner')
    expect(await output({ job_id: producer.id })).toBe('(no new output)\n[status: running]')
  })

  it('JB-60 an unknown key is refused with what was meant; an empty and an unknown id are error results', async () => {
    const { id } = app.start()
    expect(await output({ job_id: id, timeoutMs: 5 })).toContain('unknown argument "timeoutMs"; did you mean "timeout_ms"?')
    for (const [name, args] of [
      ['job_output', {}],
      ['job_kill', { why: 'x' }],
      ['job_list', { all: true }],
    ] as const) {
      const result = await app.call(name, args)
      expect(result).toMatchObject({ isError: true, code: 'TOOL_ARGUMENTS' })
    }
    for (const name of ['job_output', 'job_kill']) {
      expect(await app.call(name, { job_id: '' })).toMatchObject({ isError: true, code: 'JOB_UNKNOWN', message: 'unknown job ""' })
      expect(await app.call(name, { job_id: 'bash-99' })).toMatchObject({ isError: true, code: 'JOB_UNKNOWN', message: 'unknown job bash-99' })
    }
    const stranger = app.start({ owner: app.open('two') })
    expect(await app.call('job_output', { job_id: stranger.id })).toMatchObject({
      code: 'JOB_FOREIGN',
      message: `job ${stranger.id} belongs to another session`,
    })
  })

  it('JB-62 wait ends with the job', async () => {
    const producer = app.start()
    const waiting = output({ job_id: producer.id, wait: true })
    await drained()
    producer.stdout.write('done\n')
    await producer.end()
    expect(await waiting).toBe('done\n[status: completed, exit code: 0]')
    await drained()
    expect([app.messages, app.jobs.get(producer.id, 'host').notice]).toEqual([[], 'withheld'])
  })

  it.each([
    ['the default', {}, 60],
    ['a given bound', { timeout_ms: 25 }, 25],
    ['a capped one', { timeout_ms: 100_000 }, 80],
  ])('JB-62 wait expires at %s, and the job lives on', async (_what, args, ms) => {
    await using hasty = await openJobs({ toolJobs: { defaultWaitMs: 60, maxWaitMs: 80 } })
    const producer = hasty.start()
    const before = performance.now()
    const [plain, until] = await Promise.all([
      hasty.shown('job_output', { job_id: producer.id, wait: true, ...args }),
      hasty.shown('job_output', { job_id: producer.id, until: 'never', ...args }),
    ])
    expect(performance.now() - before).toBeGreaterThanOrEqual(ms - 2)
    expect(plain).toBe('(no new output)\n[status: running]')
    expect(until).toBe(`(no new output)\n[no match within ${ms}ms]\n[status: running]`)
    expect(hasty.jobs.get(producer.id, 'host').status).toBe('running')
    await producer.end()
  })

  it.each([{ wait: true }, { until: 'x' }])('JB-63 after an expired wait with %j a later end notifies', async (args) => {
    const producer = app.start()
    expect(await output({ job_id: producer.id, timeout_ms: 5, ...args })).toContain('[status: running]')
    await producer.end()
    await drained()
    expect(app.messages).toHaveLength(1)
  })

  it.each([{ wait: true }, { until: 'x' }])(
    'JB-62 JB-63 an aborted call is TOOL_ABORTED, its waiter gone, and a later end notifies: %j',
    async (args) => {
      const producer = app.start()
      const controller = new AbortController()
      const waiting = app.call('job_output', { job_id: producer.id, ...args }, controller.signal)
      await drained()
      controller.abort()
      expect(await waiting).toMatchObject({ isError: true, code: 'TOOL_ABORTED', message: 'tool call aborted' })
      await drained()
      expect(producer.stdout.pending).toBe(0)
      await producer.end()
      await drained()
      expect(app.jobs.get(producer.id, 'host').notice).toBe('sent')
      expect(app.messages).toHaveLength(1)
    },
  )

  it('JB-66 tail with and without unread output', async () => {
    const producer = app.start()
    producer.stdout.write('one\ntwo\nthree\n')
    expect(await output({ job_id: producer.id, tail: 1 })).toBe('[skipped 8 bytes of unread output]\nthree\n[status: running]')
    expect(await output({ job_id: producer.id, tail: 2 })).toBe('two\nthree\n[status: running]')
    expect(await output({ job_id: producer.id })).toBe('(no new output)\n[status: running]')
    for (const tail of [0, -1, 1.5, 10_001]) {
      expect(await app.call('job_output', { job_id: producer.id, tail })).toMatchObject({ isError: true, code: 'TOOL_ARGUMENTS' })
    }
  })

  it('JB-66 a second read of a finished job has nothing new, and its record is still there', async () => {
    const producer = app.start()
    producer.stdout.write('x\n')
    await producer.end()
    expect(await output({ job_id: producer.id })).toBe('x\n[status: completed, exit code: 0]')
    expect(await output({ job_id: producer.id })).toBe('(no new output)\n[status: completed, exit code: 0]')
    expect(await output({ job_id: producer.id, wait: true })).toBe('(no new output)\n[status: completed, exit code: 0]')
    expect(app.jobs.list(app.session)).toHaveLength(1)
  })

  it('JB-67 pages of a job with the smallest limit fit, status line included, and lose nothing', async () => {
    const producer = app.start({ replyLimitBytes: 256 })
    const lines = Array.from({ length: 100 }, (_, n) => `line ${n} ä€🦀\n`).join('')
    producer.stdout.write(lines)
    await producer.end({ status: 'failed', outcome: 'x'.repeat(500) })
    let read = ''
    for (let unread = 1; unread > 0; ) {
      const result = await app.call('job_output', { job_id: producer.id })
      const value = reported(result)
      expect(Buffer.byteLength(textOf(result))).toBeLessThanOrEqual(256)
      const more = value.text.indexOf('[more output: ')
      const end = more >= 0 ? more : value.text.indexOf('[status: ')
      const isOnOwnLine = more >= 0 && !lines.includes(value.text.slice(0, end))
      read += value.text.slice(0, isOnOwnLine ? end - 1 : end)
      unread = value.unread
    }
    expect(read).toBe(lines)
  })

  it('says what was lost, and what cannot be read', async () => {
    const producer = app.start({ keep: 4 })
    producer.stdout.write('0123456789')
    producer.stdout.spillPath = '/spill/1'
    producer.stderr.broken = new Error('disk gone')
    expect(await output({ job_id: producer.id })).toBe(
      '6789\n[stderr]\n[output could not be read: disk gone]\n[some output was dropped from memory; full output: /spill/1]\n[status: running]',
    )
  })
})

describe('until', () => {
  it('JB-64 unread output matches at once, and what was read already does not', async () => {
    const producer = app.start()
    producer.stdout.write('ready one\n')
    await output({ job_id: producer.id })
    producer.stdout.write('busy\nready two\nlater\n')
    expect(await output({ job_id: producer.id, until: '^ready' })).toBe('busy\nready two\nlater\n[matched: ready two]\n[status: running]')
    const result = await app.call('job_output', { job_id: producer.id, until: '^ready', timeout_ms: 5 })
    expect(result).toMatchObject({ isError: false, value: { matched: null } })
  })

  it('JB-64 a line of which the beginning was read matches as the line it is', async () => {
    const producer = app.start()
    producer.stdout.write('Server ')
    await output({ job_id: producer.id })
    const [whole, rest] = ['^Server ready$', '^ready'].map((until) => output({ job_id: producer.id, until, timeout_ms: 60_000 }))
    await drained()
    producer.stdout.write('ready\n')
    expect(await whole).toBe('ready\n[matched: Server ready]\n[status: running]')
    await producer.end()
    expect(await rest).toContain('[no match before the job ended]')
  })

  it.each([
    ['a later line', 'stdout', ['not yet\n', 'it is ready\n'], 'it is ready'],
    ['an unfinished line', 'stdout', ['listening on', ' port 80, ready'], 'listening on port 80, ready'],
    ['standard error', 'stderr', ['warming up\n', 'ready\n'], 'ready'],
  ] as const)('JB-64 %s matches when it comes, and the job’s end still notifies', async (_what, channel, writes, line) => {
    const producer = app.start()
    const waiting = app.call('job_output', { job_id: producer.id, until: 'ready' })
    for (const text of writes) {
      await drained()
      producer[channel].write(text)
    }
    const result = await waiting
    expect(result).toMatchObject({ value: { matched: line, job: { status: 'running' } } })
    expect(textOf(result)).toContain(`\n[matched: ${line}]\n[status: running]`)
    expect(textOf(result)).toContain(writes.join(''))
    await producer.end()
    await drained()
    expect(app.messages).toHaveLength(1)
  })

  it('JB-65 the job ends first: no match, or one in its last words, and either is the answer to the wait', async () => {
    const [silent, telling] = [app.start(), app.start()]
    const waits = [silent, telling].map(({ id }) => output({ job_id: id, until: 'ready' }))
    await drained()
    telling.stdout.write('ready')
    await Promise.all([silent.end(), telling.end()])
    expect(await Promise.all(waits)).toEqual([
      '(no new output)\n[no match before the job ended]\n[status: completed, exit code: 0]',
      'ready\n[matched: ready]\n[status: completed, exit code: 0]',
    ])
    await drained()
    expect(app.messages).toEqual([])
    expect(await output({ job_id: silent.id, until: 'x' })).toContain('[no match before the job ended]')
  })

  it.each([
    [{ until: '(' }, /^invalid until: Invalid regular expression/],
    [{ until: 'x'.repeat(201) }, /^invalid until: longer than 200 characters$/],
    [{ until: '' }, /^invalid until: expected a pattern that is not empty$/],
    [{ until: 'x', wait: false }, /^until needs wait$/],
    [{ until: '^(a+)+$' }, /^until took too long to match$/],
  ])('JB-65 %j is an error result, and consumes nothing', async (args, message) => {
    const producer = app.start()
    const line = `${'a'.repeat(60)}!\n`
    producer.stdout.write(line)
    expect(await app.call('job_output', { job_id: producer.id, ...args })).toMatchObject({
      isError: true,
      message: expect.stringMatching(message),
    })
    expect(producer.stdout.pending).toBe(0)
    expect(await app.shown('job_output', { job_id: producer.id })).toBe(`${line}[status: running]`)
  })

  it('JB-65 a flood while matching keeps nobody from their turn, and the line after it is found', async () => {
    const producer = app.start({ replyLimitBytes: 1_000 })
    producer.stdout.write('noise noise noise\n'.repeat(200_000))
    let turns = 0
    const turn = (): void => {
      turns++
      immediate = setImmediate(turn)
    }
    let immediate = setImmediate(turn)
    const waiting = app.call('job_output', { job_id: producer.id, until: 'needle', wait: true, timeout_ms: 60_000 })
    producer.stdout.write('needle\n')
    const result = await waiting.finally(() => clearImmediate(immediate))
    expect(result).toMatchObject({ value: { matched: 'needle', unread: expect.any(Number) } })
    expect(turns).toBeGreaterThan(20)
    expect(textOf(result)).toMatch(/noise\n.*\[more output: \d+ bytes unread\]\n\[matched: needle\]\n\[status: running\]$/s)
  })
})
