import { seen } from '@tenon/shell/conformance'
import { describe, expect, it } from 'vitest'
import { bench } from './bash-bench.ts'

describe('what a command leaves behind', () => {
  it.each([
    ['B001', 'holds both streams', 'sleep 60 & echo done', 'done\n'],
    ['B001', 'holds stderr alone', 'sleep 60 >/dev/null & echo done', 'done\n'],
    ['B004', 'has left the session', 'setsid sleep 300 & echo spawned', 'spawned\n'],
    ['B004', 'has left the session and ignores what asks it to end', `setsid sh -c 'trap "" TERM HUP; exec sleep 300' & echo spawned`, 'spawned\n'],
    ['B005', 'is a server that never exits', `node -e 'setInterval(()=>{},1e3)' & echo up`, 'up\n'],
  ])('SH-23 %s one that %s: the result comes at once, it is counted, goes on, and ends with the process provider', (_case, _what, command, text) =>
    bench({ graceMs: 300 }, async ({ start, run, endProcesses }) => {
      const late: number[] = []
      // A loaded machine may be late once; an executor that waits is late always.
      let execution = await start('true')
      for (let attempt = 0; attempt < 5 && !late.some((ms) => ms < 100); attempt++) {
        execution = await start(`${command}; date +%s%N >&2`, { timeoutMs: 20_000 })
        const { stdout, stderr, ...facts } = await execution.result()
        late.push(Date.now() - Number(stderr.text) / 1e6)
        expect(facts).toMatchObject({ exitCode: 0, signal: null, timedOut: false, aborted: false })
        expect(stdout.text).toBe(text)
      }
      expect(Math.min(...late)).toBeLessThan(100)
      expect(await execution.survivors()).toBe(1)
      // Nobody queues behind the stream it holds.
      expect((await run('echo second')).stdout.text).toBe('second\n')
      expect([execution.kill(), await execution.survivors()]).toEqual([false, 1])
      await endProcesses()
      await expect.poll(() => execution.survivors()).toBe(0)
    }),
  )

  it('SH-23 B002 one that keeps writing is not hit, is drained within bounds, and ends with the process provider', () =>
    bench({ maxOutputBytes: 2_000, maxSpillBytes: 20_000, graceMs: 300 }, async ({ start, endProcesses }) => {
      const execution = await start(`t=$(printf 'tick %.0s' {1..100}); (while :; do echo "$t"; sleep 0.01; done) & echo started`)
      const result = await execution.result()
      expect(result).toMatchObject({ exitCode: 0, timedOut: false })
      expect(result.stdout.text).toContain('started\n')
      const { stdout } = execution.observed
      const settled = stdout.size()
      // Beyond its file, and long beyond what is kept in memory.
      while (stdout.size() < settled + 30_000) expect(await stdout.changed(stdout.size(), AbortSignal.timeout(20_000))).toBe(true)
      expect(stdout.size() - stdout.earliest()).toBeLessThanOrEqual(2_000)
      expect([stdout.finished, stdout.spillPath]).toEqual([false, undefined])
      expect(await execution.survivors()).toBeGreaterThanOrEqual(1)
      await endProcesses()
      expect([await execution.survivors(), stdout.finished]).toEqual([0, true])
      expect((await execution.result()).stdout.bytes).toBe(result.stdout.bytes)
    }))

  it('SH-23 B008 B004 at a deadline nothing is left behind, also who had left the session', () =>
    bench({ graceMs: 300 }, async ({ start }) => {
      const execution = await start('seq 1 2000; setsid sleep 60 & (sleep 60 &); sleep 60', { timeoutMs: 1_000 })
      await seen(execution.observed.stdout, '2000\n')
      // The last command takes the place of the shell.
      await expect.poll(() => execution.survivors()).toBeGreaterThanOrEqual(2)
      const result = await execution.result()
      expect(result).toMatchObject({ timedOut: true, stdout: { truncated: false, text: expect.stringMatching(/^1\n2\n[\s\S]*\n2000\n$/) } })
      await expect.poll(() => execution.survivors()).toBe(0)
    }))

  it('SH-06 B016 a pipeline whose producer never ends is gone at its deadline, and has cost the host no memory', () =>
    bench({ graceMs: 500 }, async ({ start }) => {
      const before = process.memoryUsage().rss
      const execution = await start('yes MARK | grep -v MARK | head -1', { timeoutMs: 1_000 })
      const result = await execution.result()
      expect(result).toMatchObject({ timedOut: true, stdout: { text: '' } })
      await expect.poll(() => execution.survivors()).toBe(0)
      expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1_024 ** 2)
    }))
})
