import { describe, expect, it } from 'vitest'
import { bench, collected, type Open, readAll, shows } from './under-test.ts'

export function describeEnding(open: Open): void {
  describe('survivors and ending', () => {
    it.each([
      ['one that holds stdout', 'sleep 60 & echo done'],
      ['one that holds stderr only', 'sleep 60 >/dev/null & echo done'],
      ['one in a session of its own', 'setsid sleep 60 & echo done'],
    ])('SP-29 done does not wait for a survivor: %s', async (_what, script) => {
      const { sh } = await bench(open)
      const late: number[] = []
      // A loaded machine may be late once; a provider that waits is late always.
      for (let attempt = 0; attempt < 5 && !late.some((ms) => ms < 100); attempt++) {
        const handle = sh(`${script}; date +%s%N >&2`)
        expect(await handle.done).toEqual({ exitCode: 0, signal: null })
        late.push(Date.now() - Number(readAll(collected(handle, 'stderr'))) / 1e6)
        expect(readAll(collected(handle))).toBe('done\n')
        expect(await handle.survivors()).toBe(1)
      }
      expect(Math.min(...late)).toBeLessThan(100)
    })

    it('SP-29 a full pipe that the leader left is collected, survivor or not', async () => {
      const { sh } = await bench(open)
      for (let round = 0; round < 20; round++) {
        const handle = sh('sleep 60 & head -c 60000 /dev/zero')
        await handle.done
        expect(collected(handle).size()).toBe(60_000)
        handle.terminate()
      }
    })

    it('SP-30 a survivor goes on writing, never hit by SIGPIPE, within bounded memory', async () => {
      const { sh } = await bench(open)
      const handle = sh('(while :; do echo t; sleep 0.01; done) & echo up', { stdout: { maxBytes: 64 } })
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      const reader = collected(handle)
      const before = reader.size()
      expect(reader.finished).toBe(false)
      while (reader.size() < before + 200) expect(await reader.changed(reader.size(), AbortSignal.timeout(10_000))).toBe(true)
      expect(reader.size() - reader.earliest()).toBeLessThanOrEqual(64)
      expect(await handle.survivors()).toBeGreaterThan(0)
      handle.terminate()
      expect(await handle.waitForExit()).toBe(true)
    })

    it('SP-30 a survivor that floods without end does not delay done', async () => {
      const { sh } = await bench(open)
      const handle = sh('yes & sleep 0.1; exit 5', { stdout: { maxBytes: 1_000 } })
      expect(await handle.done).toEqual({ exitCode: 5, signal: null })
      handle.terminate()
      expect(await handle.waitForExit()).toBe(true)
    })

    it('SP-31 both forms of collection behave alike', async () => {
      const { sh } = await bench(open)
      const script = 'sleep 60 & echo one; echo two; exit 3'
      const handles = [sh(script, { stdout: { maxBytes: 4_096 } }), sh(script, { stdout: { maxBytes: 4_096, spill: { maxBytes: 8_192 } } })]
      for (const handle of handles) {
        expect(await handle.done).toEqual({ exitCode: 3, signal: null })
        expect(readAll(collected(handle))).toBe('one\ntwo\n')
        expect(await handle.survivors()).toBe(1)
      }
    })

    it('SP-39 TERM reaches the whole tree, and what a trap prints within the grace is collected', async () => {
      const { sh } = await bench(open)
      const handle = sh('trap "echo bye; exit 7" TERM; sh -c \'trap "echo child; exit" TERM; echo up; sleep 60 & wait\' & sleep 60 & wait', {
        graceMs: 5_000,
      })
      await shows(handle, 'up')
      handle.terminate()
      expect(await handle.done).toEqual({ exitCode: 7, signal: null })
      expect(await handle.waitForExit()).toBe(true)
      expect(readAll(collected(handle)).split('\n').sort()).toEqual(['', 'bye', 'child', 'up'])
    })

    it('SP-39 what ignores TERM gets KILL after graceMs; two calls are one escalation', async () => {
      const { sh } = await bench(open)
      const handle = sh('trap "" TERM; echo up; while :; do sleep 0.05; done', { graceMs: 300 })
      await shows(handle, 'up')
      const started = performance.now()
      handle.terminate()
      expect(await handle.waitForExit(AbortSignal.timeout(150))).toBe(false)
      handle.terminate()
      expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGKILL' })
      expect(await handle.waitForExit()).toBe(true)
      const elapsed = performance.now() - started
      expect(elapsed).toBeGreaterThan(290)
      // A second escalation would have begun 150 ms later.
      expect(elapsed).toBeLessThan(2_000)
    })

    it('SP-40 grandchildren, pipelines and busy loops are gone when waitForExit says so, and only then', async () => {
      const { sh } = await bench(open)
      const handle = sh('sh -c "sleep 60 & sleep 60" & yes | grep -v y & while :; do :; done & echo up; wait')
      await shows(handle, 'up')
      expect(await handle.waitForExit(AbortSignal.timeout(50))).toBe(false)
      expect(await handle.survivors()).toBeGreaterThan(3)
      handle.terminate()
      expect(await handle.waitForExit()).toBe(true)
      expect(await handle.survivors()).toBe(0)
    })

    it('SP-41 the leader is gone and a helper ignores TERM: it counts, and terminate still escalates', async () => {
      const { sh } = await bench(open)
      const handle = sh('sh -c \'trap "" TERM; echo up; exec sleep 60\' & read line < /dev/stdin; while ! false; do exit 0; done', { graceMs: 200 })
      await handle.done
      await shows(handle, 'up')
      expect(await handle.survivors()).toBe(1)
      handle.terminate()
      expect(await handle.waitForExit()).toBe(true)
      expect(await handle.survivors()).toBe(0)
    })

    it('SP-43 a stopped process ends within graceMs', async () => {
      const { sh } = await bench(open)
      const handle = sh('sleep 60 & echo up; kill -STOP $$', { graceMs: 10_000 })
      await shows(handle, 'up')
      const started = performance.now()
      handle.terminate()
      expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
      expect(await handle.waitForExit()).toBe(true)
      expect(performance.now() - started).toBeLessThan(10_000)
    })

    it('SP-43 children forked inside a trap are caught', async () => {
      const { sh } = await bench(open)
      const handle = sh('trap "for i in 1 2 3; do sleep 60 & done; trap : TERM" TERM; echo up; while :; do sleep 0.02; done', { graceMs: 200 })
      await shows(handle, 'up')
      handle.terminate()
      expect(await handle.waitForExit()).toBe(true)
      expect(await handle.survivors()).toBe(0)
    })

    it('SP-44 after the end was seen terminate does nothing', async () => {
      const { sh } = await bench(open)
      const handle = sh('exit 6')
      expect(await handle.done).toEqual({ exitCode: 6, signal: null })
      expect(await handle.waitForExit()).toBe(true)
      handle.terminate()
      handle.terminate()
      expect(await handle.waitForExit(AbortSignal.abort())).toBe(true)
    })

    it('SP-48 the close ends running trees and the survivors of finished leaders', async () => {
      const { sh, close } = await bench(open)
      const running = sh('sleep 60 & sleep 60')
      const left = sh('sleep 60 & echo done')
      await left.done
      await close()
      expect(await running.waitForExit()).toBe(true)
      expect(await left.waitForExit()).toBe(true)
      expect(readAll(collected(left))).toBe('done\n')
    })

    it('SP-52 many spawns on one signal leave no listener behind and raise no warning', async () => {
      const { spawn } = await bench(open)
      const warnings: Error[] = []
      const listener = (warning: Error): number => warnings.push(warning)
      process.on('warning', listener)
      const { signal } = new AbortController()
      let listeners = 0
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
      signal.addEventListener = (...args: Parameters<typeof add>): void => {
        listeners++
        add(...args)
      }
      signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
        listeners--
        remove(...args)
      }
      const run = async (): Promise<void> => {
        const handle = spawn(['true'], { signal })
        await handle.done
        await handle.waitForExit(signal)
        await collected(handle).changed(0, signal)
      }
      await Promise.all(Array.from({ length: 50 }, run))
      for (let count = 0; count < 50; count++) await run()
      expect(listeners).toBe(0)
      // A warning is told in the next tick.
      await new Promise((resolve) => setImmediate(resolve))
      process.off('warning', listener)
      expect(warnings).toEqual([])
    })
  })
}
