import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { bench, collected, type Open, readAll, shows, tail } from './under-test.ts'

export function describeStreams(open: Open): void {
  describe('exit facts and streams', () => {
    it('SP-09 stdout and stderr are kept apart', async () => {
      const { sh } = await bench(open)
      const [out, err, both] = [sh('echo out'), sh('echo err >&2'), sh('echo out; echo err >&2')]
      await Promise.all([out.done, err.done, both.done])
      expect([out, err, both].map((handle) => [readAll(collected(handle)), readAll(collected(handle, 'stderr'))])).toEqual([
        ['out\n', ''],
        ['', 'err\n'],
        ['out\n', 'err\n'],
      ])
    })

    it.each([0, 1, 3, 255])('SP-09 exit %i is a code with no signal', async (code) => {
      const { sh } = await bench(open)
      expect(await sh(`exit ${code}`).done).toEqual({ exitCode: code, signal: null })
    })

    it.each(['SIGTERM', 'SIGKILL', 'SIGINT', 'SIGHUP', 'SIGUSR1', 'SIGABRT', 'SIGPIPE'] as const)(
      'SP-09 a self-sent %s is reported verbatim',
      async (signal) => {
        const { sh } = await bench(open)
        expect(await sh(`kill -${signal.slice(3)} $$; sleep 60`).done).toEqual({ exitCode: null, signal })
      },
    )

    it('SP-10 pipe gives a stream and no reader, collection a reader and no stream', async () => {
      const { sh } = await bench(open)
      const piped = sh('cat; echo err >&2', { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })
      expect(piped.output).toEqual({})
      piped.stdin?.end('in')
      expect(piped.stdout && (await text(piped.stdout))).toBe('in')
      expect(piped.stderr && (await text(piped.stderr))).toBe('err\n')
      const kept = sh('true')
      expect(Object.keys(kept.output)).toEqual(['stdout', 'stderr'])
      expect([kept.stdin, kept.stdout, kept.stderr]).toEqual([undefined, undefined, undefined])
    })

    it('SP-10 stderr alone may be a pipe, and inherit goes beside collection', async () => {
      const { sh } = await bench(open)
      const handle = sh('echo out; echo err >&2', { stderr: 'pipe' })
      expect(handle.stderr && (await text(handle.stderr))).toBe('err\n')
      expect(await shows(handle, 'out')).toBe('out\n')
      const inheriting = sh('echo out', { stderr: 'inherit' })
      await inheriting.done
      expect(Object.keys(inheriting.output)).toEqual(['stdout'])
      expect(readAll(collected(inheriting))).toBe('out\n')
    })

    it('SP-10 what a pipe holds can still be read after the exit', async () => {
      const { sh } = await bench(open)
      const handle = sh('echo late', { stdout: 'pipe' })
      await handle.done
      await handle.waitForExit()
      expect(handle.stdout && (await text(handle.stdout))).toBe('late\n')
    })

    it('SP-11 ignore is the null device: end of file at once', async () => {
      const { sh } = await bench(open)
      const handle = sh('cat; test -c /dev/stdin && echo device')
      await handle.done
      expect(readAll(collected(handle))).toBe('device\n')
    })

    it.each([
      ['nothing', ''],
      ['a line', 'line\n'],
      ['a megabyte', 'x'.repeat(1_048_576)],
      ['two megabytes', 'y'.repeat(2_097_152)],
    ])('SP-11 %s of data arrives and ends, also through /dev/stdin', async (_what, data) => {
      const { sh } = await bench(open)
      const handles = [sh('cat | wc -c', { stdin: { data } }), sh('cat /dev/stdin | wc -c', { stdin: { data: Buffer.from(data) } })]
      await Promise.all(handles.map(({ done }) => done))
      expect(handles.map((handle) => Number(readAll(collected(handle))))).toEqual([data.length, data.length])
    })

    it.each([
      ['closes its standard input', 'exec 0<&-; sleep 0.1', { exitCode: 0, signal: null }],
      ['exits', 'exit 4', { exitCode: 4, signal: null }],
      ['is killed in the middle', 'head -c 100 > /dev/null; kill -KILL $$', { exitCode: null, signal: 'SIGKILL' }],
    ])('SP-12 8 MiB of data to a child that %s: true facts and no fault', async (_what, script, facts) => {
      const { sh } = await bench(open)
      const handle = sh(script, { stdin: { data: Buffer.alloc(8 * 1_024 ** 2) } })
      expect(await handle.done).toEqual(facts)
      expect(await handle.waitForExit()).toBe(true)
    })

    it('SP-13 a flooded stderr never blocks the reader of stdout', async () => {
      const { sh } = await bench(open)
      const handle = sh('head -c 5000000 /dev/zero >&2; echo through')
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      expect(readAll(collected(handle))).toBe('through\n')
      expect(collected(handle, 'stderr').size()).toBe(5_000_000)
    })

    it('SP-13 a pipe that nobody reads stops its own child only, which can be ended', async () => {
      const { sh } = await bench(open)
      const stuck = sh('echo begun >&2; head -c 5000000 /dev/zero; echo never >&2', { stdout: 'pipe' })
      await shows(stuck, 'begun', 'stderr')
      expect(await sh('head -c 5000000 /dev/zero').done).toEqual({ exitCode: 0, signal: null })
      expect(await stuck.waitForExit(AbortSignal.timeout(100))).toBe(false)
      stuck.terminate()
      expect(await stuck.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
      expect(readAll(collected(stuck, 'stderr'))).toBe('begun\n')
    })

    it('SP-14 an explicit entry arrives, a tombstone removes, PATH stays', async () => {
      const { sh } = await bench(open)
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's, not ours.
      const script = 'echo "$ONE|$TENON_SESSION|$MY_TOKEN|${HOME-unset}|${PATH:+set}|$BASH_ENV"'
      const env = { ONE: '1', TENON_SESSION: 'mine', MY_TOKEN: 'wanted', HOME: undefined, BASH_ENV: '/dev/null' }
      const handle = sh(script, { env })
      await handle.done
      expect(readAll(collected(handle))).toBe('1|mine|wanted|unset|set|/dev/null\n')
    })

    it('SP-28 what is written through /dev/stdout and /dev/stderr is in order and complete', async () => {
      const { sh } = await bench(open)
      const handle = sh('echo a; echo b > /dev/stdout; echo c | tee /dev/stderr; echo d; echo e >> /dev/stderr')
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      expect(readAll(collected(handle))).toBe('a\nb\nc\nd\n')
      expect(readAll(collected(handle, 'stderr'))).toBe('c\ne\n')
    })

    it('SP-32 500 short outputs in batches of 20 are 500 times complete', async () => {
      const { spawn } = await bench(open)
      for (let batch = 0; batch < 25; batch++) {
        const handles = Array.from({ length: 20 }, () => spawn(['printf', 'x'], { stdout: tail }))
        await Promise.all(handles.map(({ done }) => done))
        expect(handles.map((handle) => readAll(collected(handle))).join('')).toBe('x'.repeat(20))
      }
    })
  })
}
