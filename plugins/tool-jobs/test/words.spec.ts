import { describe, expect, it } from 'vitest'
import { clipBytes, clipCharacters, firstBytes, lastBytes } from '../src/clip.ts'
import { withinLimit } from '../src/limit.ts'
import { noticeSummary, noticeText } from '../src/notice-text.ts'
import { ageOf, statusOf } from '../src/status.ts'
import { text } from '../src/text.ts'
import { jobView } from './job-read.ts'

describe('ages', () => {
  it.each([
    [0, '0s'],
    [999, '0s'],
    [12_345, '12s'],
    [59_999, '59s'],
    [60_000, '1m00s'],
    [134_000, '2m14s'],
    [3_599_999, '59m59s'],
    [3_600_000, '1h00m'],
    [11_100_000, '3h05m'],
    [100_000_000, '27h46m'],
  ])('JB-68 of %d ms is %s', (durationMs, age) => {
    expect(ageOf(durationMs)).toBe(age)
  })
})

describe('the words of the tools', () => {
  it('JB-61 are these', () => {
    expect(text.output).toMatchObject({
      description:
        'Read output of a background job. Each call returns what is new since the last one, then a status line. Set wait to block until the job ends, or until to block until a line appears.',
      jobId: 'Id of the job, as given when it was started.',
      wait: 'Wait for the job to end before reading. The wait ends early at timeout_ms; the job keeps running.',
      until: 'Regular expression. The wait also ends when a new output line matches it. Implies wait.',
      tail: 'Return only the last N lines and skip older unread output.',
    })
    expect(text.output.timeoutMs(30_000, 600_000)).toBe('Longest wait in milliseconds. Default 30000, at most 600000.')
    expect(text.list.description).toBe('List your background jobs: id, kind, status, age, first line of the command.')
    expect(text.kill.description).toBe('Stop a background job and everything it started. Returns at once; you get a notice only if it does not stop.')
    expect(text.kill.reason).toBe('Why; shown to whoever waits for the job.')
    expect(text.section).toBe(
      'Keep the id of a background job; job_list shows it again. You are notified when a job ends, so do not poll in a loop and do not sleep: use job_output with wait or until, and only when you cannot go on without it. Read the results you rely on before your final answer. Stop jobs you no longer need with job_kill.',
    )
  })
})

describe('status lines', () => {
  it('JB-67 give way where there is little room: first the end of the outcome, then all of it', () => {
    const job = jobView({ status: 'failed', detail: { outcome: 'a long story' } })
    expect(statusOf(job)).toBe('[status: failed, a long story]')
    expect(statusOf(job, 27)).toBe('[status: failed, a long…]')
    expect(statusOf(job, 18)).toBe('[status: failed]')
  })
})

describe('cuts', () => {
  it('are made on whole characters', () => {
    expect([clipBytes('aä🦀', 7), clipBytes('aä🦀', 6), clipBytes('aä🦀b', 7), clipBytes('abc', 2)]).toEqual(['aä🦀', 'aä…', 'aä…', ''])
    expect([clipCharacters('🦀🦀', 2), clipCharacters('🦀🦀🦀', 2)]).toEqual(['🦀🦀', '🦀…'])
    expect([firstBytes('ä🦀', 5), firstBytes('ä', 1), lastBytes('ä🦀', 5), lastBytes('🦀a', 2)]).toEqual(['ä', '', '🦀', 'a'])
  })

  it('JB-67 an error is told within the limit, with its code, and what was cut is marked', async () => {
    const fail = (message: string) => async () => {
      throw Object.assign(new Error(message), { code: 'JOB_CANCEL_FAILED' })
    }
    await expect(withinLimit(256, fail('short'))).rejects.toMatchObject({ message: 'short', code: 'JOB_CANCEL_FAILED' })
    const long = `job bash-1 could not be stopped: ${'ä'.repeat(300)}`
    const error = await withinLimit(256, fail(long)).catch((caught: unknown) => caught as Error & { code: string })
    expect(error).toMatchObject({ code: 'JOB_CANCEL_FAILED', message: expect.stringMatching(/^job bash-1 could .*ä\n\[result truncated\]$/) })
    expect(Buffer.byteLength(`Error: ${(error as Error).message}`)).toBeLessThanOrEqual(256)
    expect(await withinLimit(256, () => 5)).toBe(5)
  })
})

describe('notices', () => {
  const done = (n: number, change: Partial<ReturnType<typeof jobView>> = {}) =>
    jobView({ id: `bash-${n}`, label: `make ${n}`, status: 'completed', detail: { outcome: 'exit code: 0' }, ...change })
  const line = (n: number) =>
    `background job bash-${n} (bash: make ${n}) finished [status: completed, exit code: 0]. Read its output with job_output.`

  it('JB-72 of one job and of several', () => {
    expect(noticeText([{ job: done(1), preview: '' }])).toBe(line(1))
    expect(noticeText([{ job: done(1), preview: 'a\nb' }])).toBe(`${line(1)}\n[last output]\na\nb`)
    const eight = Array.from({ length: 8 }, (_, n) => ({ job: done(n + 1), preview: '' }))
    expect(noticeText(eight)).toBe(eight.map((_, n) => line(n + 1)).join('\n\n'))
    const ten = [...eight, { job: done(9), preview: '' }, { job: done(10), preview: '' }]
    expect(noticeText(ten)).toBe(`${noticeText(eight)}\n\n[2 more jobs finished; see job_list]`)
  })

  it('JB-67 fit the limit of their job: without the preview, then in the shortest form, and keep the id', () => {
    const preview = 'p'.repeat(400)
    const short = noticeText([{ job: done(1, { replyLimitBytes: 256 }), preview }])
    expect(short).toBe(`${line(1)}\n[notice truncated]`)
    const label = 'ä'.repeat(120)
    expect(noticeText([{ job: done(1, { replyLimitBytes: 256, label }), preview }])).toBe('job bash-1 done; read it with job_output.')
  })

  it('JB-72 a message holds at most 8,192 bytes, with a part for each of eight jobs', () => {
    const label = '🦀'.repeat(120)
    const detail = { outcome: 'x'.repeat(400) }
    const many = Array.from({ length: 12 }, (_, n) => ({ job: done(n + 1, { label, detail }), preview: 'p'.repeat(400) }))
    const message = noticeText(many)
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(8_192)
    for (let n = 1; n <= 8; n++) expect(message).toMatch(new RegExp(`\\bbash-${n}\\b`))
    expect(message.endsWith('\n\n[4 more jobs finished; see job_list]')).toBe(true)
  })

  it('have a summary of one line and at most 120 characters', () => {
    expect(noticeSummary([{ job: done(1), preview: '' }])).toBe('bash-1 completed: make 1')
    expect(noticeSummary([1, 2].map((n) => ({ job: done(n), preview: '' })))).toBe('2 background jobs finished: bash-1, bash-2')
    const many = noticeSummary(Array.from({ length: 40 }, (_, n) => ({ job: done(n), preview: '' })))
    expect([...many]).toHaveLength(120)
    expect(many.endsWith('…')).toBe(true)
    expect([...noticeSummary([{ job: done(1, { label: '🦀'.repeat(120) }), preview: '' }])]).toHaveLength(120)
  })
})
