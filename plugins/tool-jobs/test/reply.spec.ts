import { describe, expect, it } from 'vitest'
import { outputBudget, type ReplyContext, renderReply } from '../src/reply.ts'
import { chunk, jobRead } from './job-read.ts'

const plain: ReplyContext = { until: undefined, boundMs: 30_000, tail: false }
const render = (read: ReturnType<typeof jobRead>, context: Partial<ReplyContext> = {}) => renderReply(read, { ...plain, ...context })
const done = { status: 'completed', detail: { outcome: 'exit code: 0' } } as const

describe('a reply', () => {
  it.each([
    ['stdout', [chunk('stdout', 'a\nb\n')], 'a\nb\n[status: running]'],
    ['stdout without a newline', [chunk('stdout', 'a')], 'a\n[status: running]'],
    ['stderr alone', [chunk('stderr', 'e\n')], '[stderr]\ne\n[status: running]'],
    ['both', [chunk('stdout', 'o\n'), chunk('stderr', 'e\n')], 'o\n[stderr]\ne\n[status: running]'],
    ['both, where a newline is missing', [chunk('stdout', 'o'), chunk('stderr', 'e')], 'o\n[stderr]\ne\n[status: running]'],
    ['neither', [], '(no new output)\n[status: running]'],
    ['a final value', [chunk('result', 'answer')], 'answer\n[status: running]'],
    ['channels of other names', [chunk('log', 'l\n'), chunk('result', 'r')], 'l\n[result]\nr\n[status: running]'],
    ['blank lines only', [chunk('stdout', '\n')], '\n[status: running]'],
  ])('JB-61 shows %s', (_what, chunks, shown) => {
    expect(render(jobRead(chunks))).toBe(shown)
  })

  it.each([
    ['running', {}, '[status: running]'],
    ['stopping', { status: 'stopping' }, '[status: stopping]'],
    ['completed', done, '[status: completed, exit code: 0]'],
    ['killed', { status: 'killed', detail: { outcome: 'signal: SIGTERM; no use' } }, '[status: killed, signal: SIGTERM; no use]'],
    ['failed without a word', { status: 'failed' }, '[status: failed]'],
  ] as const)('JB-61 ends with the status: %s', (_what, job, line) => {
    expect(render(jobRead([], { job }))).toBe(`(no new output)\n${line}`)
  })

  it('JB-61 a channel that cannot be read says so after its text, and is not mistaken for one without output', () => {
    const error = { error: 'disk gone' }
    expect(render(jobRead([chunk('stdout', '', error)]))).toBe('[output could not be read: disk gone]\n[status: running]')
    expect(render(jobRead([chunk('stdout', 'a', error), chunk('stderr', 'e')]))).toBe(
      'a\n[output could not be read: disk gone]\n[stderr]\ne\n[status: running]',
    )
    expect(render(jobRead([chunk('stderr', '', error)]))).toBe('[stderr]\n[output could not be read: disk gone]\n[status: running]')
  })

  it('JB-61 lost bytes are told with the files that have them, or that there are none', () => {
    const lost = [chunk('stdout', 'o', { dropped: 5 }), chunk('stderr', 'e', { dropped: 6 })]
    const output = (out?: string, err?: string) => ({
      stdout: { size: 9, earliest: 5, ...(out === undefined ? {} : { spillPath: out }) },
      stderr: { size: 9, earliest: 6, ...(err === undefined ? {} : { spillPath: err }) },
    })
    const line = (job: object) => render(jobRead(lost, { job })).split('\n').at(-2)
    expect(line({ output: output('/a', '/b') })).toBe('[some output was dropped from memory; full output: /a, /b]')
    expect(line({ output: output(undefined, '/b') })).toBe('[some output was dropped from memory; full output: /b]')
    expect(line({ output: output() })).toBe('[some output was dropped from memory; full output: (unavailable)]')
    expect(render(jobRead([chunk('stdout', 'o', { dropped: 5 }), chunk('stderr', 'e')], { job: { output: output('/a', '/b') } }))).toContain(
      'full output: /a]',
    )
  })

  it('JB-61 all markers at once stand in their order, each on its own line', () => {
    const chunks = [chunk('stdout', 'o', { dropped: 5, error: 'E' }), chunk('stderr', 'e')]
    const until = { end: 'matched', line: 'a\tline' } as const
    expect(render(jobRead(chunks, { skipped: 7, unread: 8, job: done }), { until, tail: true })).toBe(
      [
        '[skipped 7 bytes of unread output]',
        'o',
        '[output could not be read: E]',
        '[stderr]',
        'e',
        '[some output was dropped from memory; full output: (unavailable)]',
        '[more output: 8 bytes unread]',
        '[matched: a line]',
        '[status: completed, exit code: 0]',
      ].join('\n'),
    )
  })

  it('JB-61 says that nothing matched, in time or before the end', () => {
    expect(render(jobRead([]), { until: { end: 'expired' }, boundMs: 250 })).toBe('(no new output)\n[no match within 250ms]\n[status: running]')
    expect(render(jobRead([], { job: done }), { until: { end: 'ended' } })).toBe(
      '(no new output)\n[no match before the job ended]\n[status: completed, exit code: 0]',
    )
  })
})

describe('the limit of a reply', () => {
  const contexts: readonly Partial<ReplyContext>[] = [
    {},
    { tail: true },
    { until: { end: 'expired' } },
    { until: { end: 'matched', line: '🦀'.repeat(1_000) }, tail: true },
  ]
  const jobs = [{}, { status: 'failed', detail: { outcome: 'x'.repeat(400) } }, { status: 'killed', detail: { outcome: 'ä'.repeat(200) } }] as const
  const faults = [{}, { dropped: 3 }, { error: 'y'.repeat(500) }, { dropped: 3, error: 'é'.repeat(500) }]

  it.each([256, 300, 1_000, 64_000])('JB-67 of %d bytes is kept by every combination, status line included', (limit) => {
    for (const context of contexts) {
      for (const job of jobs) {
        for (const fault of faults) {
          const output = { stdout: { size: 10 ** 7, earliest: 3, spillPath: `/${'p'.repeat(200)}` }, stderr: { size: 10 ** 7, earliest: 0 } }
          const change = { skipped: 123_456, unread: 10 ** 7, job: { ...job, replyLimitBytes: limit, output } }
          const ahead = jobRead([chunk('stdout', '', fault), chunk('stderr', '')], change)
          const budget = outputBudget(ahead, { ...plain, ...context })
          expect(budget).toBeGreaterThanOrEqual(64)
          const half = 'o'.repeat(Math.floor(budget / 2))
          const text = render(jobRead([chunk('stdout', half, fault), chunk('stderr', half)], change), context)
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(limit)
          expect(text.match(/o+/g)?.filter((part) => part.length === half.length)).toHaveLength(2)
          expect(text).toContain('[more output: 10000000 bytes unread]')
          expect(text).toMatch(/\n\[status: [^\n]*\]$/)
        }
      }
    }
  })

  it('JB-67 with room for them, all optional lines are whole', () => {
    const change = { skipped: 5, job: { replyLimitBytes: 1_000 } }
    const text = render(jobRead([chunk('stdout', 'o', { dropped: 3, error: 'E' })], change), { until: { end: 'expired' }, tail: true })
    for (const line of ['[skipped 5 bytes', '(unavailable)]', '[output could not be read: E]', '[no match within 30000ms]']) {
      expect(text).toContain(line)
    }
  })
})
