import { readdir } from 'node:fs/promises'
import type { ShellRequest, ShellSpec } from '@tenon/shell'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type Executor, withExecutor } from './executor.ts'

const MOST = 2_147_483_647

const refused = (code: 'SHELL_BAD_REQUEST' | 'SHELL_BAD_COMMAND', field: string) =>
  expect.objectContaining({ code, details: { field }, message: expect.stringMatching(new RegExp(`^${field === 'request' ? 'the request' : field}`)) })

/** Nothing was looked up, written or started. */
async function nothingHappened({ processes, directory }: Executor): Promise<void> {
  expect([processes.resolved, processes.spawned, await readdir(directory)]).toEqual([[], [], []])
}

describe('the deadline of a request', () => {
  afterEach(() => void vi.useRealTimers())

  it('SH-03 B022 any positive integer is taken and capped, and anything else is refused by name, in a request and in a spec', () =>
    withExecutor({ config: { timeoutMs: 5_000, maxTimeoutMs: 7_000 } }, async (executor) => {
      const { shell } = executor
      expect(shell.resolve({ command: '' }).timeoutMs).toBe(5_000)
      fc.assert(
        fc.property(
          fc.oneof(
            fc.integer({ min: 1, max: 20_000 }),
            fc.maxSafeInteger().filter((value) => value > 0),
            fc.constant(1e300),
          ),
          (timeoutMs) => {
            expect(shell.resolve({ command: '', timeoutMs }).timeoutMs).toBe(Math.min(timeoutMs, 7_000))
          },
        ),
      )
      const spec = shell.resolve({ command: '' })
      const wrong = fc.oneof(
        fc.double().filter((value) => !Number.isInteger(value) || value < 1),
        fc.maxSafeInteger().filter((value) => value < 1),
        fc.constantFrom('5s', '5', '', null, true, {}, [5], 5n, Number.NaN, Infinity, -Infinity, 0, -0),
      )
      await fc.assert(
        fc.asyncProperty(wrong, async (value) => {
          const timeoutMs = value as number
          expect(() => shell.resolve({ command: '', timeoutMs })).toThrow(refused('SHELL_BAD_REQUEST', 'timeoutMs'))
          await expect(shell.execute({ ...spec, timeoutMs })).rejects.toEqual(refused('SHELL_BAD_REQUEST', 'timeoutMs'))
        }),
      )
      for (const timeoutMs of [MOST + 1, 4_294_967_296, Number.MAX_SAFE_INTEGER]) {
        await expect(shell.execute({ ...spec, timeoutMs })).rejects.toEqual(refused('SHELL_BAD_REQUEST', 'timeoutMs'))
      }
      await nothingHappened(executor)
    }))

  it('SH-03 no value fires at once: each fires when it says, also the longest there is', () =>
    withExecutor({ config: { maxTimeoutMs: MOST } }, async ({ execute, processes }) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      for (const [asked, effective] of [
        [1, 1],
        [99_999, 99_999],
        [MOST - 1, MOST - 1],
        [MOST, MOST],
        [MOST + 1, MOST],
        [99_999_999_999, MOST],
      ] as const) {
        const execution = await execute({ command: 'true', timeoutMs: asked })
        vi.advanceTimersByTime(effective - 1)
        expect(processes.last.terminations).toBe(0)
        vi.advanceTimersByTime(1)
        expect(processes.last.terminations).toBe(1)
        processes.last.exit(null, 'SIGTERM')
        expect(await execution.result()).toMatchObject({ timedOut: true, timeoutMs: effective })
      }
      expect(vi.getTimerCount()).toBe(0)
    }))

  it('SH-07 with onExpiry none there is a timer during the preparation only, whatever the deadline', () =>
    withExecutor({}, async ({ execute, processes }) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      processes.programs = async () => {
        expect(vi.getTimerCount()).toBe(1)
        return process.execPath
      }
      const execution = await execute({ command: 'true', timeoutMs: 1_000, onExpiry: 'none' })
      expect(vi.getTimerCount()).toBe(0)
      vi.advanceTimersByTime(MOST)
      expect([processes.last.terminations, execution.status]).toEqual([0, 'running'])
      expect([execution.kill(), processes.last.terminations]).toEqual([true, 1])
      processes.last.exit(null, 'SIGTERM')
      expect(await execution.result()).toMatchObject({ timedOut: false, aborted: false, timeoutMs: 1_000 })
    }))
})

describe('the text of a command', () => {
  const text = fc.string({ unit: 'binary', maxLength: 50 })
  const within = (bad: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.tuple(text, bad, text).map((parts) => parts.join(''))
  const lone = fc.oneof(
    fc.integer({ min: 0xd800, max: 0xdbff }).map((unit) => `${String.fromCharCode(unit)}.`),
    fc.integer({ min: 0xdc00, max: 0xdfff }).map((unit) => `.${String.fromCharCode(unit)}`),
  )

  it('SH-28 with NUL or a lone surrogate anywhere it is SHELL_BAD_COMMAND, and nothing at all happens', () =>
    withExecutor({}, async (executor) => {
      const { shell, execute } = executor
      const spec = shell.resolve({ command: '' })
      await fc.assert(
        fc.asyncProperty(fc.oneof(within(fc.constant('\0')), within(lone)), async (command) => {
          expect(() => shell.resolve({ command })).toThrow(refused('SHELL_BAD_COMMAND', 'command'))
          await expect(shell.execute({ ...spec, command })).rejects.toEqual(refused('SHELL_BAD_COMMAND', 'command'))
        }),
      )
      for (const command of [undefined, null, 7, ['ls'], { text: 'ls' }]) {
        await expect(async () => execute({ command: command as unknown as string })).rejects.toEqual(refused('SHELL_BAD_COMMAND', 'command'))
      }
      await nothingHappened(executor)
    }))

  it('SH-28 any other text is taken and reaches the process untouched, characters beyond the first plane included', () =>
    withExecutor({}, async ({ execute, processes }) => {
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async (some) => {
          const command = `${some.replaceAll('\0', '')}🛑`
          await execute({ command })
          expect(processes.last.spec.argv.at(-1)).toBe(command)
        }),
        { numRuns: 30 },
      )
    }))
})

describe('the other members of a request', () => {
  it('SH-05 stdoutMaxBytes is from 4 to the limit of the file, the very limit included, whichever is the smaller', async () => {
    await withExecutor({ config: { maxOutputBytes: 1_000, maxSpillBytes: 50_000 } }, async (executor) => {
      const { shell, execute, processes } = executor
      for (const stdoutMaxBytes of [50_001, 1e9, 3, 0, -1, 4.5, Number.NaN, Infinity, '9', null]) {
        const request = { command: '', stdoutMaxBytes: stdoutMaxBytes as number }
        expect(() => shell.resolve(request)).toThrow(refused('SHELL_BAD_REQUEST', 'stdoutMaxBytes'))
        await expect(shell.execute({ ...shell.resolve({ command: '' }), ...request })).rejects.toEqual(refused('SHELL_BAD_REQUEST', 'stdoutMaxBytes'))
      }
      await nothingHappened(executor)
      for (const onExpiry of ['kill', 'none'] as const) {
        for (const stdoutMaxBytes of [4, 999, 50_000]) {
          await execute({ command: '', stdoutMaxBytes, onExpiry })
          expect(processes.last.spec).toMatchObject({ stdout: { maxBytes: stdoutMaxBytes }, stderr: { maxBytes: 1_000 } })
        }
      }
    })
    await withExecutor({ config: { maxSpillBytes: 2 ** 40 } }, async ({ shell }) => {
      expect(shell.resolve({ command: '', stdoutMaxBytes: 268_435_456 }).stdoutMaxBytes).toBe(268_435_456)
      expect(() => shell.resolve({ command: '', stdoutMaxBytes: 268_435_457 })).toThrow(refused('SHELL_BAD_REQUEST', 'stdoutMaxBytes'))
    })
  })

  it.each<[string, object]>([
    ['workdir', { workdir: 'a/b' }],
    ['workdir', { workdir: '' }],
    ['workdir', { workdir: 7 }],
    ['workdir', { workdir: null }],
    ['onExpiry', { onExpiry: null }],
    ['stdin', { stdin: null }],
    ['signal', { signal: null }],
    ['managedEnv', { managedEnv: 'TENON_A=1' }],
    ['workdir', { workdir: '/a\0b' }],
    ['env', { env: [] }],
    ['env', { env: 'A=1' }],
    ['env', { env: null }],
    ['env', { env: { A: 1 } }],
    ['env', { env: { '': 'a' } }],
    ['env', { env: { 'A=B': 'a' } }],
    ['env', { env: { A: 'a\0b' } }],
    ['env', { env: { 'A\0': undefined } }],
    ['env', { env: { tenon_session_id: 'x' } }],
    ['managedEnv', { managedEnv: { PATH: '/bin' } }],
    ['managedEnv', { managedEnv: { TENON_X: 7 } }],
    ['managedEnv', { managedEnv: { TENON_X: 'a\0b' } }],
    ['managedEnv', { managedEnv: { 'TENON_A=B': 'x' } }],
    ['managedEnv', { managedEnv: { tenon_process: 'x' } }],
    ['sandboxPolicy', { sandboxPolicy: 'read-only' }],
    ['sandboxPolicy', { sandboxPolicy: [] }],
    ['sandboxPolicy.mode', { sandboxPolicy: { workspaceRoot: '/' } }],
    ['sandboxPolicy.workspaceRoot', { sandboxPolicy: { mode: 'read-only' } }],
    ['sandboxPolicy.sessionId', { sandboxPolicy: { mode: 'read-only', workspaceRoot: '/', sessionId: 7 } }],
    ['signal', { signal: { aborted: 'no' } }],
    ['signal', { signal: 'abort' }],
    ['stdin', { stdin: Buffer.from('x') }],
    ['onExpiry', { onExpiry: 'promote' }],
  ])('SH-28 a bad %s is refused by its name, and nothing happens: %j', (field, wrong) =>
    withExecutor({}, async (executor) => {
      const { shell } = executor
      expect(() => shell.resolve({ command: '', ...wrong } as ShellRequest)).toThrow(refused('SHELL_BAD_REQUEST', field))
      await expect(shell.execute({ ...shell.resolve({ command: '' }), ...wrong } as ShellSpec)).rejects.toEqual(refused('SHELL_BAD_REQUEST', field))
      await nothingHappened(executor)
    }),
  )

  it.each([undefined, null, 'ls', ['ls']])('SH-28 %j is no request', (request) =>
    withExecutor({}, async ({ shell }) => {
      expect(() => shell.resolve(request as unknown as ShellRequest)).toThrow(refused('SHELL_BAD_REQUEST', 'request'))
    }),
  )

  it('SH-28 a member that is none is refused with the one that was meant, and nothing of what is long or secret is shown', () =>
    withExecutor({}, async ({ shell }) => {
      const said = (wrong: object): string => {
        try {
          shell.resolve({ command: '', ...wrong })
        } catch (error) {
          return (error as Error).message
        }
        return expect.fail('was taken')
      }
      expect(said({ timeoutMS: 5 })).toBe('timeoutMS is not a member of a shell request; did you mean timeoutMs?')
      expect(said({ label: 'x' })).toBe('label is not a member of a shell request')
      expect(said({ workdir: `x${'y'.repeat(5_000)}` }).length).toBeLessThan(200)
      expect(said({ env: { A: 'secret\0' } })).not.toContain('secret')
    }))
})

describe('where a command runs that names no directory', () => {
  it('SH-02 B085 if the host has none any more, commands have to name one, and nothing else is affected', () =>
    withExecutor({ config: { cwd: undefined }, host: { cwd: undefined } }, async ({ shell, execute, processes }) => {
      expect(() => shell.resolve({ command: '' })).toThrow(refused('SHELL_BAD_REQUEST', 'workdir'))
      await execute({ command: '', workdir: '/' })
      expect(processes.last.spec.cwd).toBe('/')
    }))

  it('SH-02 B085 a configured one is taken without a look at the host', () =>
    withExecutor({ config: { cwd: '/' }, host: { cwd: undefined } }, async ({ execute, processes }) => {
      await execute({ command: '' })
      expect(processes.last.spec.cwd).toBe('/')
    }))
})
