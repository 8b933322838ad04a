import { describe, expect, it } from 'vitest'
import { type LocalShellConfig, localShellConfig } from '../src/index.ts'

const MOST = 2_147_483_647

/** Paths of what is wrong, in order; none if nothing is. */
function faults(settings: unknown, platform: NodeJS.Platform = 'linux'): string[] {
  const parsed = localShellConfig(platform).safeParse(settings)
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('the config of an executor', () => {
  it('SH-04 is complete when nothing is set, and is what was set otherwise', () => {
    const defaults = { timeoutMs: 120_000, maxTimeoutMs: 600_000, maxOutputBytes: 64_000, maxSpillBytes: 64 * 1_024 ** 2, graceMs: 3_000, env: {} }
    for (const nothing of [undefined, {}]) expect(localShellConfig('linux').parse(nothing)).toEqual(defaults)
    const all: LocalShellConfig = {
      cwd: '/srv',
      timeoutMs: 1,
      maxTimeoutMs: 1,
      maxOutputBytes: 4,
      maxSpillBytes: 4,
      graceMs: 1,
      executable: 'bash',
      env: { PATH: '/bin', A: '' },
    }
    expect(localShellConfig('linux').parse(all)).toEqual(all)
  })

  const numbers: [keyof LocalShellConfig, number, number, object][] = [
    ['timeoutMs', 1, MOST, { maxTimeoutMs: MOST }],
    ['maxTimeoutMs', 1, MOST, { timeoutMs: 1 }],
    ['graceMs', 1, MOST, {}],
    ['maxOutputBytes', 4, 268_435_456, { maxSpillBytes: Number.MAX_SAFE_INTEGER }],
    ['maxSpillBytes', 4, Number.MAX_SAFE_INTEGER, { maxOutputBytes: 4 }],
  ]
  it.each(numbers)('SH-04 B022 B023 %s is an integer from %d to %d, and nothing else', (name, least, most, beside) => {
    for (const good of [least, least + 1, most]) expect(faults({ ...beside, [name]: good })).toEqual([])
    const refused = [
      least - 1,
      0,
      -1,
      most + 1,
      least + 0.5,
      Number.NaN,
      Infinity,
      -Infinity,
      Number('1e309'),
      3_000_000_000.5,
      '5',
      '5s',
      null,
      true,
      [least],
    ]
    for (const bad of refused) {
      expect(new Set(faults({ ...beside, [name]: bad }).map((fault) => fault.split(':')[0]))).toEqual(new Set([name]))
    }
  })

  it('SH-04 B023 a deadline of 0 is no way to say "none", in any setting of time', () => {
    for (const name of ['timeoutMs', 'maxTimeoutMs', 'graceMs']) expect(faults({ [name]: 0 })[0]).toMatch(/^\w+: .*(>=|at least) ?1/)
  })

  it.each([
    [{ timeoutMs: 2_000, maxTimeoutMs: 1_000 }, 'timeoutMs: must not be above maxTimeoutMs (1000)'],
    [{ maxTimeoutMs: 1_000 }, 'timeoutMs: must not be above maxTimeoutMs (1000)'],
    [{ timeoutMs: 600_001 }, 'timeoutMs: must not be above maxTimeoutMs (600000)'],
    [{ maxOutputBytes: 2_000, maxSpillBytes: 1_000 }, 'maxOutputBytes: must not be above maxSpillBytes (1000)'],
    [{ maxSpillBytes: 1_000 }, 'maxOutputBytes: must not be above maxSpillBytes (1000)'],
  ])('SH-04 %j contradicts, a default too, and says whom', (settings, fault) => expect(faults(settings)).toEqual([fault]))

  it.each([
    ['cwd', { cwd: 'here' }],
    ['cwd', { cwd: '' }],
    ['cwd', { cwd: 7 }],
    ['executable', { executable: '' }],
    ['env.A', { env: { A: 1 } }],
    ['env.A', { env: { A: 'a\0' } }],
    ['env.A', { env: { A: null } }],
    ['env.', { env: { '': 'a' } }],
    ['env.A=B', { env: { 'A=B': 'a' } }],
    ['env.TENON_X', { env: { TENON_X: 'x' } }],
    ['env.Tenon_Process', { env: { Tenon_Process: 'x' } }],
    ['', { timeoutMS: 5 }],
    ['', { graceMs: 1, max_output_bytes: 5 }],
    ['', null],
    ['', []],
    ['', 'bash'],
  ])('SH-04 what is wrong is named by its path, here %j: %j', (path, settings) => {
    expect(faults(settings)).toEqual([expect.stringMatching(new RegExp(`^${path}: `))])
  })

  it('SH-04 everything that is wrong is told at once, a misspelt key by its name', () => {
    const wrong = faults({ cwd: 'here', timeoutMs: '5s', graceMs: 0, executable: '', timeoutMS: 5 })
    expect(wrong.map((fault) => fault.split(':')[0])).toEqual(['cwd', 'timeoutMs', 'graceMs', 'executable', ''])
    expect(wrong.at(-1)).toContain('timeoutMS')
    expect(faults({ env: { TENON_X: 'x', TENON_Y: 'y' } })).toHaveLength(2)
  })

  it('SH-04 what is absolute depends on the platform', () => {
    expect([faults({ cwd: 'C:\\work' }, 'win32'), faults({ cwd: 'C:\\work' }, 'linux').length]).toEqual([[], 1])
    expect(faults({ cwd: 'work' }, 'win32')).toHaveLength(1)
  })
})
