import { expect, it } from 'vitest'
import { benchOf, type ShellUnderTest, seen } from './world.ts'

/** What a command that runs to its end gives. */
export function resultsOf(under: ShellUnderTest): void {
  const bench = benchOf(under)
  const many = (under.many ?? 2_000) / 4

  it('SH-01 a result has both streams, exit facts, the effective deadline and the duration', () =>
    bench({ timeoutMs: 20_000 }, async ({ run }) => {
      const result = await run([
        { do: 'print', text: 'out\n' },
        { do: 'print', text: 'err\n', to: 'stderr' },
        { do: 'exit', code: 3 },
      ])
      expect(result).toEqual({
        exitCode: 3,
        signal: null,
        timedOut: false,
        aborted: false,
        timeoutMs: 20_000,
        durationMs: expect.any(Number),
        stdout: { text: 'out\n', bytes: 4, truncated: false },
        stderr: { text: 'err\n', bytes: 4, truncated: false },
      })
      expect(result.durationMs).toBeGreaterThan(0)
    }))

  it('SH-01 silent success and progress on stderr are plain results', () =>
    bench({}, async ({ run, start }) => {
      expect(await run([{ do: 'exit', code: 0 }])).toMatchObject({ exitCode: 0, stdout: { text: '', bytes: 0 }, stderr: { text: '', bytes: 0 } })
      const progress = await start([{ do: 'print', text: 'progress', to: 'stderr' }])
      expect(await progress.result()).toMatchObject({ exitCode: 0, stdout: { text: '' }, stderr: { text: 'progress' } })
      expect(progress.status).toBe('completed')
    }))

  it('SH-16 a handle is returned while the command runs; its status changes once, and facts are there when done settles', () =>
    bench({}, async ({ start }) => {
      const execution = await start([{ do: 'print', text: 'up' }, { do: 'cat' }, { do: 'sleep', ms: 50 }, { do: 'exit', code: 4 }])
      expect(execution).toMatchObject({ status: 'running', exitCode: null, signal: null })
      const atDone = await execution.done.then(() => ({ status: execution.status, exitCode: execution.exitCode }))
      expect(atDone).toEqual({ status: 'completed', exitCode: 4 })
    }))

  it('SH-16 result() is one promise, and gives the same when it is asked for late', () =>
    bench({}, async ({ start }) => {
      const execution = await start([{ do: 'print', text: 'x' }])
      await execution.done
      const late = execution.result()
      expect(execution.result()).toBe(late)
      expect(await late).toMatchObject({ exitCode: 0, stdout: { text: 'x' } })
      expect(await execution.result()).toBe(await late)
    }))

  it('SH-29 without stdin there is an end of file at once, whoever waits and however long', () =>
    bench({ timeoutMs: 15_000 }, async ({ start }) => {
      for (const onExpiry of ['kill', 'none'] as const) {
        const execution = await start([{ do: 'cat' }, { do: 'print', text: 'end' }], { onExpiry })
        expect(await execution.result()).toMatchObject({ exitCode: 0, timedOut: false, stdout: { text: 'end' } })
      }
    }))

  it('SH-29 stdin is written as it is, then closed', () =>
    bench({ timeoutMs: 15_000 }, async ({ run }) => {
      const stdin = `a\0≤\r\n${'x'.repeat(70_000)}`
      const { stdout } = await run([{ do: 'cat' }], { stdin, stdoutMaxBytes: 100_000 })
      expect(stdout.text).toBe(stdin)
    }))

  it('SH-29 8 MiB of stdin to a command that closes it is a normal result', () =>
    bench({}, async ({ run }) => {
      const result = await run([{ do: 'closeStdin' }, { do: 'sleep', ms: 100 }, { do: 'print', text: 'ok' }], { stdin: 'x'.repeat(8 << 20) })
      expect(result).toMatchObject({ exitCode: 0, stdout: { text: 'ok' } })
    }))

  it('SH-30 a command is told that nobody sits in front of it, and CI, locale and editor are those of the host', () =>
    bench({}, async ({ run }) => {
      const names = ['NO_COLOR', 'PAGER', 'GIT_PAGER', 'GIT_TERMINAL_PROMPT', 'CI', 'LC_ALL', 'EDITOR']
      const { stdout } = await run(
        names.flatMap((name) => [
          { do: 'env', name },
          { do: 'print', text: ';' },
        ]),
      )
      const ofHost = ['CI', 'LC_ALL', 'EDITOR'].map((name) => process.env[name] ?? '<unset>')
      expect(stdout.text).toBe(['1', 'cat', 'cat', '0', ...ofHost, ''].join(';'))
    }))

  it('SH-31 later layers of the environment win, and a tombstone works in each', () =>
    bench({ env: { LAYER_A: 'config', LAYER_B: 'config', LAYER_C: 'config', PAGER: 'config' } }, async ({ run }) => {
      const show = (...names: string[]): Parameters<typeof run>[0] =>
        names.flatMap((name) => [
          { do: 'env', name },
          { do: 'print', text: ';' },
        ])
      const env = { LAYER_B: 'request', LAYER_C: undefined, NO_COLOR: undefined }
      const managedEnv = { TENON_LAYER: 'managed', TENON_GONE: undefined }
      const names = ['LAYER_A', 'LAYER_B', 'LAYER_C', 'PAGER', 'NO_COLOR', 'TENON_LAYER', 'TENON_GONE']
      const { stdout } = await run(show(...names), { env, managedEnv })
      expect(stdout.text).toBe('config;request;<unset>;config;<unset>;managed;<unset>;')
      const { stdout: path } = await run(show('PATH'), { env: { PATH: `/nowhere:${process.env.PATH}` } })
      expect(path.text).toBe(`/nowhere:${process.env.PATH};`)
    }))

  it('SH-32 credentials and stale managed variables of the host are absent; a config entry restores one on purpose', async () => {
    const planted = { CONFORMANCE_API_KEY: 'secret', CONFORMANCE_TOKEN: 'secret', TENON_STALE: 'outer' }
    Object.assign(process.env, planted)
    try {
      await bench({ env: { CONFORMANCE_TOKEN: 'meant' } }, async ({ run }) => {
        const { stdout } = await run(
          Object.keys(planted).flatMap((name) => [
            { do: 'env', name },
            { do: 'print', text: ';' },
          ]),
        )
        expect(stdout.text).toBe('<unset>;meant;<unset>;')
      })
    } finally {
      for (const name of Object.keys(planted)) delete process.env[name]
    }
  })

  it(`SH-53 ${many} commands, 25 at a time, give ${many} outputs`, () =>
    bench({}, async ({ run }) => {
      const outputs: string[] = []
      const lane = async (): Promise<void> => {
        for (let count = 0; count < many / 25; count++) outputs.push((await run([{ do: 'print', text: 'x' }])).stdout.text)
      }
      await Promise.all(Array.from({ length: 25 }, lane))
      expect(outputs).toEqual(Array.from({ length: many }, () => 'x'))
    }))

  it('SH-27 a text too long for one argument runs as a short one does', () =>
    bench({}, async ({ run, start, directory }) => {
      const text = under.longScript(200_000, 'long ≤', 5)
      expect(text.length).toBeGreaterThanOrEqual(200_000)
      expect(await run(text, { workdir: directory })).toMatchObject({ exitCode: 5, stdout: { text: 'long ≤' }, stderr: { text: '' } })
      const execution = await start(text)
      await seen(execution.observed.stdout, 'long ≤')
      await execution.done
    }))
}
