import { type JobRead, renderJobOutput } from '@tenon/jobs'
import { describe, expect, it } from 'vitest'

type Chunk = JobRead['chunks'][number]
const chunk = (channel: string, text: string, more: Partial<Chunk> = {}): Chunk => ({ channel, at: 0, text, dropped: 0, ...more })
const read = (chunks: readonly Chunk[], more: Partial<JobRead> = {}, paths: Record<string, string> = {}): JobRead =>
  ({
    job: {
      output: Object.fromEntries(
        ['stdout', 'stderr'].map((name) => [name, { size: 0, earliest: 0, ...(paths[name] === undefined ? {} : { spillPath: paths[name] }) }]),
      ),
    },
    from: {},
    next: {},
    chunks,
    unread: 0,
    skipped: 0,
    ...more,
  }) as unknown as JobRead

describe('the output of a job', () => {
  it.each<[string, JobRead, string]>([
    ['nothing', read([]), ''],
    ['stdout only', read([chunk('stdout', 'a\n'), chunk('stdout', 'b')]), 'a\nb'],
    ['stderr only', read([chunk('stderr', 'e\n')]), '[stderr]\ne\n'],
    ['both, newline missing', read([chunk('stdout', 'o'), chunk('stderr', 'e')]), 'o\n[stderr]\ne'],
    ['both, newline there', read([chunk('stdout', 'o\n'), chunk('stderr', 'e')]), 'o\n[stderr]\ne'],
    ['in the order of the channels', read([chunk('stderr', 'e'), chunk('stdout', 'o')]), 'o\n[stderr]\ne'],
    ['a failed channel', read([chunk('stdout', '', { error: 'EIO' }), chunk('stderr', 'e')]), '[output could not be read: EIO]\n[stderr]\ne'],
    ['standard error that failed', read([chunk('stderr', '', { error: 'EIO' })]), '[stderr]\n[output could not be read: EIO]'],
    ['a marker before the output of standard error', read([chunk('stderr', 'e')], { skipped: 3 }), '[skipped 3 bytes of unread output]\n[stderr]\ne'],
    ['skipped', read([chunk('stdout', 'o')], { skipped: 12 }), '[skipped 12 bytes of unread output]\no'],
    ['more', read([chunk('stdout', 'o')], { unread: 7 }), 'o\n[more output: 7 bytes unread]'],
    ['dropped', read([chunk('stdout', 'o', { dropped: 5 })]), 'o\n[some output was dropped from memory; full output: (unavailable)]'],
    [
      'dropped from both, with files',
      read([chunk('stdout', 'o\n', { dropped: 5 }), chunk('stderr', 'e', { dropped: 1 })], {}, { stdout: '/o', stderr: '/e' }),
      'o\n[stderr]\ne\n[some output was dropped from memory; full output: /o, /e]',
    ],
  ])('%s', (_what, given, text) => {
    expect(renderJobOutput(given)).toBe(text)
  })

  it('a marker that does not fit is left out, or shown as it fits; headings and what is left are always there', () => {
    const given = read([chunk('stdout', 'o', { dropped: 5, error: 'EIO' }), chunk('stderr', 'e')], { skipped: 12, unread: 7 })
    expect(renderJobOutput(given, () => undefined)).toBe('o\n[stderr]\ne\n[more output: 7 bytes unread]')
    expect(renderJobOutput(given, (marker) => marker.slice(0, 5))).toBe('[skip\no\n[outp\n[stderr]\ne\n[some\n[more output: 7 bytes unread]')
  })

  it('a channel of another name is shown as the first, without a heading', () => {
    expect(renderJobOutput({ ...read([chunk('result', '42')]), job: { output: { result: { size: 2, earliest: 0 } } } } as unknown as JobRead)).toBe(
      '42',
    )
  })
})
