import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ShellRequest, ShellSpec } from '../index.ts'
import { benchOf, type ShellUnderTest } from './world.ts'

const NOT_A_TIME = [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '5s', null]

/** What is refused, and what is filled in, before anything runs. */
export function requestsOf(under: ShellUnderTest): void {
  const bench = benchOf(under)
  const refuses = (code: string, field: string) =>
    expect.objectContaining({ code, message: expect.stringContaining(field), details: expect.objectContaining({ field }) })

  it('SH-02 the workdir of a request overrides the configured one, which overrides the host directory', async () => {
    const command = under.script([{ do: 'cwd' }])
    await bench({}, async ({ shell, run, directory }) => {
      expect(shell.resolve({ command }).workdir).toBe(process.cwd())
      expect((await run(command)).stdout.text).toBe(process.cwd())
      expect((await run(command, { workdir: directory })).stdout.text).toBe(directory)
    })
    await bench({ cwd: '/' }, async ({ run, directory }) => {
      expect((await run(command)).stdout.text).toBe('/')
      expect((await run(command, { workdir: directory })).stdout.text).toBe(directory)
    })
  })

  it('SH-02 resolve is pure and copies signal, stdin, env and managedEnv only when given', () =>
    bench({ timeoutMs: 7_000, maxOutputBytes: 5_000 }, async ({ shell }) => {
      const decided = { onExpiry: 'kill', stdoutMaxBytes: 5_000, timeoutMs: 7_000 }
      expect(shell.resolve({ command: 'x', workdir: '/no/such/directory' })).toEqual({
        ...decided,
        command: 'x',
        workdir: '/no/such/directory',
        sandboxPolicy: shell.sandboxMode === undefined ? null : expect.anything(),
      })
      const env = { A: 'a', B: undefined }
      const given = { signal: new AbortController().signal, stdin: '', env, managedEnv: { TENON_X: 'x' } }
      const spec = shell.resolve({ command: '', ...given, onExpiry: 'none' })
      expect(spec).toMatchObject({ ...decided, ...given, onExpiry: 'none' })
      expect(spec.env).not.toBe(env)
      expect(Object.keys(spec.env ?? {})).toEqual(['A', 'B'])
    }))

  it('SH-02 execute threads signal, stdin and both environments under either policy, and adds no default', () =>
    bench({ timeoutMs: 20_000 }, async ({ shell }) => {
      for (const onExpiry of ['kill', 'none'] as const) {
        const command = under.script([{ do: 'env', name: 'A' }, { do: 'env', name: 'TENON_X' }, { do: 'cat' }, { do: 'linger' }])
        const controller = new AbortController()
        const spec = shell.resolve({ command, onExpiry, stdin: 'c\n', env: { A: 'a' }, managedEnv: { TENON_X: 'b' }, signal: controller.signal })
        const execution = await shell.execute(spec)
        await execution.observed.stdout.changed(3, AbortSignal.timeout(20_000))
        controller.abort()
        expect(await execution.result()).toMatchObject({ aborted: true, stdout: { text: 'abc\n' } })
      }
      const { timeoutMs: _, ...incomplete } = shell.resolve({ command: under.script([]) })
      await expect(shell.execute(incomplete as ShellSpec)).rejects.toEqual(refuses('SHELL_BAD_REQUEST', 'timeoutMs'))
    }))

  it('SH-03 a deadline above the maximum is capped, and never fires at once', () =>
    bench({ maxTimeoutMs: 600_000 }, async ({ shell, run }) => {
      const timeoutMs = 99_999_999_999
      expect(shell.resolve({ command: '', timeoutMs }).timeoutMs).toBe(600_000)
      expect(
        await run(
          [
            { do: 'sleep', ms: 50 },
            { do: 'print', text: 'ok' },
          ],
          { timeoutMs },
        ),
      ).toMatchObject({
        timedOut: false,
        timeoutMs: 600_000,
        stdout: { text: 'ok' },
      })
    }))

  it('SH-03 what is no positive integer is refused by name, in a request and in a spec', () =>
    bench({}, async ({ shell }) => {
      const spec = shell.resolve({ command: '' })
      for (const wrong of NOT_A_TIME) {
        const timeoutMs = wrong as number
        if (wrong !== null) expect(() => shell.resolve({ command: '', timeoutMs })).toThrow(refuses('SHELL_BAD_REQUEST', 'timeoutMs'))
        await expect(shell.execute({ ...spec, timeoutMs })).rejects.toEqual(refuses('SHELL_BAD_REQUEST', 'timeoutMs'))
      }
      await expect(shell.execute({ ...spec, timeoutMs: 2_147_483_648 })).rejects.toEqual(refuses('SHELL_BAD_REQUEST', 'timeoutMs'))
    }))

  it.each<[string, object]>([
    ...['timeoutMs', 'maxTimeoutMs', 'graceMs'].flatMap((name) =>
      [0, -1, 1.5, 2_147_483_648, '5s'].map((value): [string, object] => [name, { [name]: value }]),
    ),
    ...['maxOutputBytes', 'maxSpillBytes'].flatMap((name) => [3, -1, 64.5, '64k'].map((value): [string, object] => [name, { [name]: value }])),
    ['timeoutMs', { timeoutMs: 2_000, maxTimeoutMs: 1_000 }],
    ['maxOutputBytes', { maxOutputBytes: 2_000, maxSpillBytes: 1_000 }],
    ['cwd', { cwd: 'here' }],
    ['executable', { executable: '' }],
    ['env.A', { env: { A: 1 } }],
    ['env.A', { env: { A: 'a\0b' } }],
    ['env.TENON_X', { env: { TENON_X: 'x' } }],
    ['timeoutMS', { timeoutMS: 5 }],
  ])('SH-04 a config with a bad %s is refused by its path: %j', async (path, settings) => {
    await expect(under.open(settings)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(path) })
  })

  it('SH-05 a larger stdoutMaxBytes applies to stdout only, under both policies; above the spill limit it is refused', () =>
    bench({ maxOutputBytes: 1_000, maxSpillBytes: 50_000 }, async ({ shell, run }) => {
      for (const onExpiry of ['kill', 'none'] as const) {
        const result = await run(
          [
            { do: 'count', upTo: 1_000 },
            { do: 'count', upTo: 1_000, to: 'stderr' },
          ],
          { stdoutMaxBytes: 20_000, onExpiry },
        )
        expect(result.stdout).toMatchObject({ truncated: false, bytes: 3_893 })
        expect(result.stderr).toMatchObject({ truncated: true, bytes: 3_893 })
        expect(Buffer.byteLength(result.stderr.text)).toBe(1_000)
      }
      for (const stdoutMaxBytes of [50_001, 3, 0, 4.5]) {
        expect(() => shell.resolve({ command: '', stdoutMaxBytes })).toThrow(refuses('SHELL_BAD_REQUEST', 'stdoutMaxBytes'))
      }
    }))

  it.each<[string, Partial<Record<keyof ShellRequest, unknown>>, string, string]>([
    ['a command with NUL', { command: 'a\0b' }, 'SHELL_BAD_COMMAND', 'command'],
    ['a command with a lone surrogate', { command: 'a\ud800b' }, 'SHELL_BAD_COMMAND', 'command'],
    ['a command that is no string', { command: 7 }, 'SHELL_BAD_COMMAND', 'command'],
    ['a relative workdir', { workdir: 'a/b' }, 'SHELL_BAD_REQUEST', 'workdir'],
    ['a workdir with NUL', { workdir: '/a\0b' }, 'SHELL_BAD_REQUEST', 'workdir'],
    ['a value of env with NUL', { env: { A: 'a\0b' } }, 'SHELL_BAD_REQUEST', 'env'],
    ['a name of env with NUL', { env: { 'A\0B': 'a' } }, 'SHELL_BAD_REQUEST', 'env'],
    ['a managed name in env', { env: { TENON_X: 'x' } }, 'SHELL_BAD_REQUEST', 'env'],
    ['a managed name in env, in lower case', { env: { tenon_x: 'x' } }, 'SHELL_BAD_REQUEST', 'env'],
    ['a removed managed name in env', { env: { TENON_HOME: undefined } }, 'SHELL_BAD_REQUEST', 'env'],
    ['another name in managedEnv', { managedEnv: { PATH: 'x' } }, 'SHELL_BAD_REQUEST', 'managedEnv'],
    ['the reserved name in managedEnv', { managedEnv: { TENON_PROCESS: 'x' } }, 'SHELL_BAD_REQUEST', 'managedEnv'],
    ['stdin that is no string', { stdin: 7 }, 'SHELL_BAD_REQUEST', 'stdin'],
    ['another expiry', { onExpiry: 'promote' }, 'SHELL_BAD_REQUEST', 'onExpiry'],
    ['a signal that is none', { signal: {} }, 'SHELL_BAD_REQUEST', 'signal'],
    ['an unknown sandbox mode', { sandboxPolicy: { mode: 'open', workspaceRoot: '/' } }, 'SHELL_BAD_REQUEST', 'sandboxPolicy.mode'],
    ['a relative sandbox root', { sandboxPolicy: { mode: 'read-only', workspaceRoot: 'w' } }, 'SHELL_BAD_REQUEST', 'sandboxPolicy.workspaceRoot'],
    ['a member that is none', { timeoutMS: 5 } as object, 'SHELL_BAD_REQUEST', 'timeoutMS'],
  ])('SH-28 %s is refused by name, in a request and in a spec', (_what, wrong, code, field) =>
    bench({}, async ({ shell, directory }) => {
      expect(() => shell.resolve({ command: '', workdir: directory, ...wrong } as ShellRequest)).toThrow(refuses(code, field))
      const spec = { ...shell.resolve({ command: '', workdir: directory }), ...wrong } as ShellSpec
      await expect(shell.execute(spec)).rejects.toEqual(refuses(code, field))
    }),
  )

  it('SH-14 a workdir that is missing, a file, or within a file is SHELL_BAD_CWD with distinct causes; the next command runs', () =>
    bench({}, async ({ run, directory }) => {
      const missing = join(directory, 'w')
      const file = join(directory, 'file')
      const touched = join(directory, 'touched')
      await writeFile(file, '')
      for (const [workdir, cause] of [
        [missing, 'ENOENT'],
        [file, 'ENOTDIR'],
        [join(file, 'x'), 'ENOTDIR'],
      ] as const) {
        const refused = run([{ do: 'touch', file: touched }], { workdir })
        await expect(refused).rejects.toMatchObject({ code: 'SHELL_BAD_CWD', message: expect.stringContaining(workdir), cause: { code: cause } })
      }
      expect((await run([{ do: 'cwd' }], { workdir: '/tmp' })).stdout.text).toBe('/tmp')
      await mkdir(missing)
      expect((await run([{ do: 'cwd' }], { workdir: missing })).stdout.text).toBe(missing)
      await rm(missing, { recursive: true })
      await expect(run([{ do: 'cwd' }], { workdir: missing })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD' })
      await expect(rm(touched)).rejects.toMatchObject({ code: 'ENOENT' })
    }))

  it('SH-14 a program that is missing, not executable, a directory or relative is SHELL_MISSING', async () => {
    await bench({}, async ({ directory, reload }) => {
      const file = join(directory, 'shell')
      await writeFile(file, '#!/bin/sh\n')
      await chmod(file, 0o644)
      for (const executable of [join(directory, 'missing'), file, directory, './shell', 'no-such-shell-anywhere']) {
        const shell = await reload({ executable })
        await expect(shell.execute(shell.resolve({ command: '' }))).rejects.toMatchObject({
          code: 'SHELL_MISSING',
          message: expect.stringContaining(executable),
        })
      }
    })
  })

  it('SH-14 a bad directory is reported before a missing program', () =>
    bench({ executable: '/no/such/shell' }, async ({ run }) => {
      await expect(run('', { workdir: '/no/such/directory' })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD' })
    }))
}
