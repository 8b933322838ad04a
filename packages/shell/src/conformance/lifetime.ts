import { expect, it } from 'vitest'
import type { Step } from './step.ts'
import { benchOf, type ShellUnderTest, seen } from './world.ts'

/** Children that are left behind, reloads, and the end of the process provider. */
export function lifetimeOf(under: ShellUnderTest): void {
  const bench = benchOf(under)

  it.each<[string, Step]>([
    ['holds both streams', { do: 'leave', ms: 60_000 }],
    ['holds stderr only', { do: 'leave', ms: 60_000, holds: 'stderr' }],
    ['has a session of its own', { do: 'leave', ms: 60_000, apart: true }],
    ['keeps writing', { do: 'leave', ms: 60_000, ticks: true }],
  ])('SH-23 a child that %s delays nothing, is counted, and dies with the process provider', (_what, leave) =>
    bench({ graceMs: 300 }, async ({ start, endProcesses }) => {
      const execution = await start([leave, { do: 'print', text: 'done' }])
      await seen(execution.observed.stdout, 'done')
      const written = performance.now()
      const result = await execution.result()
      expect(result).toMatchObject({ exitCode: 0, signal: null, timedOut: false })
      expect(result.stdout.text).toContain('done')
      expect(performance.now() - written).toBeLessThan(1_000)
      expect(await execution.survivors()).toBeGreaterThanOrEqual(1)
      expect(execution.kill()).toBe(false)
      expect(await execution.survivors()).toBeGreaterThanOrEqual(1)
      await endProcesses()
      await expect.poll(() => execution.survivors()).toBe(0)
    }),
  )

  it('SH-23 what a survivor writes is seen by observers and not in the result, whenever that is asked for', () =>
    bench({ maxOutputBytes: 100, graceMs: 300 }, async ({ start }) => {
      const execution = await start([
        { do: 'print', text: 'own;' },
        { do: 'leave', ms: 60_000, ticks: true },
      ])
      await execution.done
      const settled = execution.observed.stdout.size()
      while (execution.observed.stdout.size() < settled + 200) {
        await execution.observed.stdout.changed(execution.observed.stdout.size(), AbortSignal.timeout(10_000))
      }
      const { stdout } = await execution.result()
      expect(stdout.text.startsWith('own;')).toBe(true)
      expect(stdout.bytes).toBeLessThanOrEqual(settled)
    }))

  it('SH-24 a reload of the executor leaves executions running, readable and with their deadline armed', () =>
    bench({ graceMs: 300 }, async ({ start, reload, shell }) => {
      const controller = new AbortController()
      const bounded = await start([{ do: 'print', text: 'up' }, { do: 'linger' }], { timeoutMs: 2_500 })
      const abortable = await start([{ do: 'print', text: 'up' }, { do: 'linger' }], { signal: controller.signal })
      const short = await start([
        { do: 'print', text: 'up' },
        { do: 'sleep', ms: 700 },
        { do: 'print', text: ' done' },
      ])
      await seen(short.observed.stdout, 'up')
      const renewed = await reload({ timeoutMs: 9_000 })
      expect(renewed).not.toBe(shell)
      expect(renewed.resolve({ command: '' }).timeoutMs).toBe(9_000)
      expect([bounded.status, abortable.status]).toEqual(['running', 'running'])
      expect((await short.result()).stdout.text).toBe('up done')
      controller.abort()
      expect(await abortable.result()).toMatchObject({ aborted: true })
      expect(await bounded.result()).toMatchObject({ timedOut: true, stdout: { text: 'up' } })
    }))

  it('SH-24 the end of the process provider settles every handle', () =>
    bench({ graceMs: 300 }, async ({ start, endProcesses }) => {
      const executions = await Promise.all([start([{ do: 'linger' }]), start([{ do: 'onTerm', text: 'no' }, { do: 'linger' }])])
      await endProcesses()
      for (const execution of executions) {
        expect(await execution.result()).toMatchObject({ timedOut: false, aborted: false })
        expect(execution.status).toBe('killed')
      }
    }))
}
