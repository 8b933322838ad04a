import { getEventListeners } from 'node:events'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ShellExecution } from '../index.ts'
import { benchOf, type ShellUnderTest, seen } from './world.ts'

/** Deadline, abort, `kill()` and signals of others: who was first, and what is left of them. */
export function endsOf(under: ShellUnderTest): void {
  const bench = benchOf(under)
  const many = under.many ?? 2_000
  const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  /** The runner of the tests has timers of its own that come and go; so would a wait of the runner's. */
  const noMoreTimersThan = async (before: number): Promise<void> => {
    for (const until = performance.now() + 10_000; timers() > before && performance.now() < until; )
      await new Promise((resolve) => setImmediate(resolve))
    expect(timers()).toBeLessThanOrEqual(before)
  }

  it('SH-06 at the deadline a command that ignores TERM dies by KILL after graceMs, and its text before and during the grace is kept', () =>
    bench({ graceMs: 300 }, async ({ start }) => {
      const execution = await start([{ do: 'onTerm', text: 'no' }, { do: 'print', text: 'up;' }, { do: 'linger' }], { timeoutMs: 2_500 })
      const result = await execution.result()
      expect(result).toMatchObject({ timedOut: true, aborted: false, exitCode: null, signal: 'SIGKILL', timeoutMs: 2_500, stdout: { text: 'up;no' } })
      expect(result.durationMs).toBeGreaterThanOrEqual(2_800)
      expect(execution.status).toBe('killed')
    }))

  it('SH-06 what a trap prints late in the grace is kept', () =>
    bench({ graceMs: 10_000 }, async ({ run }) => {
      const result = await run([{ do: 'onTerm', waitMs: 300, text: 'CLEANED', exitCode: 0 }, { do: 'linger' }], { timeoutMs: 2_000 })
      expect(result).toMatchObject({ timedOut: true, exitCode: 0, stdout: { text: 'CLEANED' } })
    }))

  it('SH-07 without expiry there is no timer and the command outlives its deadline; abort and kill() still end it', () =>
    bench({ graceMs: 10_000 }, async ({ start }) => {
      const before = timers()
      const controller = new AbortController()
      const aborted = await start([{ do: 'print', text: 'up' }, { do: 'linger' }], {
        timeoutMs: 500_000,
        onExpiry: 'none',
        signal: controller.signal,
      })
      await noMoreTimersThan(before)
      const killed = await start([{ do: 'sleep', ms: 1_500 }, { do: 'print', text: 'late' }, { do: 'linger' }], {
        timeoutMs: 1_000,
        onExpiry: 'none',
      })
      await seen(killed.observed.stdout, 'late')
      expect([aborted.status, killed.status]).toEqual(['running', 'running'])
      controller.abort()
      expect(killed.kill()).toBe(true)
      expect(await aborted.result()).toMatchObject({ aborted: true, timedOut: false, timeoutMs: 500_000 })
      expect(await killed.result()).toMatchObject({ aborted: false, timedOut: false, timeoutMs: 1_000 })
    }))

  it('SH-08 an abort before the deadline stays the cause when the process outlives the deadline', () =>
    bench({ graceMs: 3_000 }, async ({ start }) => {
      const controller = new AbortController()
      const execution = await start([{ do: 'onTerm', text: 'no' }, { do: 'print', text: 'up;' }, { do: 'linger' }], {
        timeoutMs: 2_500,
        signal: controller.signal,
      })
      await seen(execution.observed.stdout, 'up')
      controller.abort()
      const result = await execution.result()
      expect(result).toMatchObject({ aborted: true, timedOut: false, signal: 'SIGKILL' })
      expect(result.durationMs).toBeGreaterThan(2_500)
    }))

  it('SH-08 kill() before the deadline and the abort leaves both flags false', () =>
    bench({ graceMs: 3_000 }, async ({ start }) => {
      const controller = new AbortController()
      const execution = await start([{ do: 'onTerm', text: 'no' }, { do: 'print', text: 'up;' }, { do: 'linger' }], {
        timeoutMs: 2_500,
        signal: controller.signal,
      })
      await seen(execution.observed.stdout, 'up')
      execution.kill()
      await seen(execution.observed.stdout, 'no')
      controller.abort()
      expect(await execution.result()).toMatchObject({ aborted: false, timedOut: false, signal: 'SIGKILL' })
      expect(execution.status).toBe('killed')
    }))

  it('SH-09 a trap that ends a timed out command with 0 gives timedOut, exit code 0 and killed', () =>
    bench({ graceMs: 10_000 }, async ({ start }) => {
      const execution = await start([{ do: 'onTerm', waitMs: 100, text: '', exitCode: 0 }, { do: 'linger' }], { timeoutMs: 2_000 })
      expect(await execution.result()).toMatchObject({ timedOut: true, exitCode: 0, signal: null })
      expect(execution.status).toBe('killed')
    }))

  it.each(['SIGKILL', 'SIGSEGV', 'SIGTERM'] as const)('SH-10 a command that ends itself by %s is killed by that signal, with no flag', (signal) =>
    bench({}, async ({ start }) => {
      const execution = await start([
        { do: 'print', text: 'x' },
        { do: 'die', signal },
        { do: 'print', text: 'never' },
      ])
      expect(await execution.result()).toMatchObject({ exitCode: null, signal, timedOut: false, aborted: false, stdout: { text: 'x' } })
      expect(execution).toMatchObject({ status: 'killed', exitCode: null, signal })
    }),
  )

  it('SH-11 an aborted signal gives a settled handle; nothing runs, not even look-ups', () =>
    bench({ executable: '/no/such/shell' }, async ({ start, directory }) => {
      const file = join(directory, 'touched')
      const execution = await start([{ do: 'touch', file }], { signal: AbortSignal.abort(), workdir: '/no/such/directory' })
      expect(execution).toMatchObject({ status: 'killed', exitCode: null, signal: null })
      expect(await execution.result()).toMatchObject({ aborted: true, timedOut: false, exitCode: null, stdout: { text: '', bytes: 0 } })
      expect(execution.kill()).toBe(false)
      await expect.poll(() => execution.survivors()).toBe(0)
      expect(execution.readOutput()).toEqual({ delta: '', lossy: false })
      expect(execution.observed.stdout).toMatchObject({ finished: true, spillPath: undefined })
      await expect(stat(file)).rejects.toMatchObject({ code: 'ENOENT' })
    }))

  it('SH-17 kill() is true while the command runs, which it does until its exit, and false from then on', () =>
    bench({ graceMs: 10_000 }, async ({ start }) => {
      const execution = await start([{ do: 'onTerm', waitMs: 200, text: 'bye', exitCode: 7 }, { do: 'print', text: 'up' }, { do: 'linger' }])
      await seen(execution.observed.stdout, 'up')
      expect([execution.kill(), execution.kill(), execution.status]).toEqual([true, true, 'running'])
      await execution.done
      expect(execution).toMatchObject({ status: 'killed', exitCode: 7 })
      expect(execution.kill()).toBe(false)
    }))

  it('SH-17 kill() after a natural end is false, and a successor of the same text is never hit', () =>
    bench({ graceMs: 200 }, async ({ start, script }) => {
      const text = script({ do: 'print', text: 'up' }, { do: 'sleep', ms: 700 }, { do: 'print', text: ' done' })
      const first = await start(text)
      first.kill()
      await first.done
      const second = await start(text)
      expect(first.kill()).toBe(false)
      expect(await second.result()).toMatchObject({ exitCode: 0, stdout: { text: 'up done' } })
      expect(second.kill()).toBe(false)
      expect(second.status).toBe('completed')
    }))

  it('SH-18 abort settles as killed, and 50 commands on one signal end together without a warning', () =>
    bench({ graceMs: 300 }, async ({ start }) => {
      const warnings: string[] = []
      const warned = (warning: Error): void => void warnings.push(warning.name)
      process.on('warning', warned)
      const controller = new AbortController()
      const { signal } = controller
      const executions: ShellExecution[] = await Promise.all(Array.from({ length: 50 }, () => start([{ do: 'linger' }], { signal })))
      controller.abort(new Error('enough'))
      for (const execution of executions) expect(await execution.result()).toMatchObject({ aborted: true, timedOut: false })
      expect(executions.every(({ status }) => status === 'killed')).toBe(true)
      expect(getEventListeners(signal, 'abort')).toEqual([])
      process.off('warning', warned)
      expect(warnings).toEqual([])
    }))

  it(
    `SH-18 ${many} commands on one signal leave no listener and no timer`,
    () =>
      bench({}, async ({ run }) => {
        const before = timers()
        const { signal } = new AbortController()
        const lane = async (): Promise<void> => {
          for (let count = 0; count < many / 8; count++) await run([], { signal })
        }
        await Promise.all(Array.from({ length: 8 }, lane))
        expect(getEventListeners(signal, 'abort')).toEqual([])
        await noMoreTimersThan(before)
      }),
    120_000,
  )
}
