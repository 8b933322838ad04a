import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { layeredEnv } from '../src/environment.ts'
import type { Confinement } from '../src/index.ts'
import { withExecutor } from './executor.ts'
import { type ScriptedSubprocess, spawnFailed } from './scripted-subprocess.ts'

describe('a process that cannot be started', () => {
  const raised = Object.assign(new Error('spawn E2BIG'), { code: 'E2BIG' })
  const ways: [string, (processes: ScriptedSubprocess) => void][] = [
    [
      'a synchronous throw',
      (processes) =>
        (processes.onSpawn = () => {
          throw raised
        }),
    ],
    ['an asynchronous rejection', (processes) => (processes.startFails = spawnFailed(raised))],
    ['a rejection that is the bare object', (processes) => (processes.startFails = raised)],
    ['a rejection after a pid was given', (processes) => (processes.onSpawn = (started) => void started.fail(spawnFailed(raised)))],
  ]
  it.each(ways)('SH-15 %s has one shape, and the cause is the very object', (_what, arrange) =>
    withExecutor({}, async ({ execute, processes }) => {
      arrange(processes)
      const execution = await execute({ command: 'true' })
      await execution.done
      expect(execution).toMatchObject({ status: 'killed', exitCode: null, signal: null })
      expect(execution.observed.stderr.readFrom(0).text).toBe('spawn failed: spawn E2BIG')
      expect(execution.observed.stdout.size()).toBe(0)
      expect(execution.readOutput()).toEqual({ delta: '[stderr]\nspawn failed: spawn E2BIG', lossy: false })
      const failure = await execution.result().catch((error: unknown) => error)
      expect(failure).toMatchObject({ code: 'SHELL_SPAWN', message: expect.stringContaining('spawn E2BIG') })
      expect((failure as Error).cause).toBe(raised)
      expect(execution.kill()).toBe(false)
      expect(await execution.survivors()).toBe(0)
    }),
  )

  it('SH-15 a script file that cannot be written is a failed start', () =>
    withExecutor({}, async ({ execute, processes, directory, host }) => {
      const blocked = join(directory, 'blocked')
      await mkdir(blocked)
      Object.assign(host.scripts, { parent: join(blocked, 'missing') })
      const execution = await execute({ command: 'x'.repeat(100_000) })
      expect(execution.status).toBe('killed')
      await expect(execution.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', cause: { code: 'ENOENT', syscall: 'mkdtemp' } })
      expect(processes.spawned).toEqual([])
      await chmod(blocked, 0o700)
      Object.assign(host.scripts, { parent: blocked })
      await execute({ command: 'x'.repeat(100_000) })
      expect(await readdir(blocked)).toHaveLength(1)
    }))

  it('SH-16 a rejection of result() that nobody looks at is not unhandled', () =>
    withExecutor({}, async ({ execute, processes }) => {
      const unhandled: unknown[] = []
      const listener = (reason: unknown): void => void unhandled.push(reason)
      process.on('unhandledRejection', listener)
      processes.startFails = spawnFailed(raised)
      const execution = await execute({ command: 'true' })
      void execution.result()
      await new Promise((resolve) => setTimeout(resolve, 10))
      process.off('unhandledRejection', listener)
      expect(unhandled).toEqual([])
    }))
})

describe('how an end is told', () => {
  it('SH-38 a forced kill on Windows reads exit code 1 and no signal, status killed, and the flags still tell why', () =>
    withExecutor({}, async ({ execute, processes }) => {
      const controller = new AbortController()
      const killed = await execute({ command: 'a' })
      const aborted = await execute({ command: 'b', signal: controller.signal })
      expect(killed.kill()).toBe(true)
      controller.abort()
      for (const [execution, isAborted] of [
        [killed, false],
        [aborted, true],
      ] as const) {
        processes.spawned.shift()?.exit(1)
        expect(await execution.result()).toMatchObject({ exitCode: 1, signal: null, timedOut: false, aborted: isAborted })
        expect(execution.status).toBe('killed')
      }
    }))

  it('SH-16 an exit that nobody can tell is no completion', () =>
    withExecutor({}, async ({ execute, processes }) => {
      const execution = await execute({ command: 'a' })
      processes.last.exit(null)
      expect(await execution.result()).toMatchObject({ exitCode: null, signal: null, timedOut: false, aborted: false })
      expect(execution.status).toBe('killed')
    }))

  it('SH-17 a cause that comes with the exit but after it is none', () =>
    withExecutor({}, async ({ execute, processes }) => {
      const controller = new AbortController()
      const execution = await execute({ command: 'a', signal: controller.signal })
      processes.last.exit(0)
      await Promise.resolve()
      controller.abort()
      expect(execution.kill()).toBe(false)
      expect(await execution.result()).toMatchObject({ exitCode: 0, aborted: false })
      expect([execution.status, processes.last.terminations]).toEqual(['completed', 0])
    }))
})

describe('what is spawned', () => {
  it('SH-02 the spec of the process holds what the request said and nothing of a signal', () =>
    withExecutor(
      { config: { maxOutputBytes: 500, maxSpillBytes: 9_000, graceMs: 70, env: { A: 'config', B: 'config' } } },
      async ({ execute, processes }) => {
        await execute({
          command: 'echo hi',
          workdir: '/',
          stdin: 'in',
          stdoutMaxBytes: 800,
          env: { B: 'request', PAGER: undefined },
          managedEnv: { TENON_X: 'x' },
          signal: new AbortController().signal,
          onExpiry: 'none',
        })
        expect(processes.last.spec).toEqual({
          argv: [process.execPath, '--norc', '-c', 'echo hi'],
          argv0: 'bash',
          cwd: '/',
          env: { NO_COLOR: '1', PAGER: undefined, GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', TERM: 'dumb', A: 'config', B: 'request', TENON_X: 'x' },
          stdin: { data: 'in' },
          stdout: { maxBytes: 800, spill: { maxBytes: 9_000 } },
          stderr: { maxBytes: 500, spill: { maxBytes: 9_000 } },
          graceMs: 70,
        })
        expect(processes.resolved).toEqual(['bash'])
      },
    ))

  it('SH-31 on Windows a name is one variable whatever its case, and the later layer wins', () => {
    expect(layeredEnv('win32', { Path: 'config', Keep: 'x' }, undefined, { PATH: 'request' })).toEqual({ PATH: 'request', Keep: 'x' })
    expect(layeredEnv('linux', { Path: 'a' }, { PATH: undefined })).toEqual({ Path: 'a', PATH: undefined })
  })

  it('SH-12 an abort at any moment around the start either starts nothing or ends what was started, and releases once', async () => {
    const outcomes = new Set<string>()
    for (let turns = 0; turns < 30; turns++) {
      const controller = new AbortController()
      let released = 0
      // The sandbox is the last step before the start; the abort falls so many microtasks after it.
      const confinement: Confinement = {
        policy: { mode: 'read-only', workspaceRoot: '/' },
        prepare: async (launch) => {
          let abort = Promise.resolve()
          for (let turn = 0; turn < turns; turn++) abort = abort.then(() => undefined)
          void abort.then(() => controller.abort())
          const facts = { mode: 'read-only', denied: false } as const
          return { ...launch, facts, classify: () => ({ facts }), release: () => void released++ }
        },
      }
      await withExecutor({ confinement }, async ({ execute, processes }) => {
        processes.onSpawn = (started) => {
          started.handle.terminate = () => void started.exit(null, 'SIGTERM')
        }
        const execution = await execute({ command: 'true', signal: controller.signal }).catch((error: unknown) => {
          expect(error).toBe(controller.signal.reason)
          expect(processes.spawned).toEqual([])
          outcomes.add('rejected')
        })
        if (execution !== undefined) {
          expect(await execution.result()).toMatchObject({ aborted: true, signal: 'SIGTERM' })
          outcomes.add('ended')
        }
        await new Promise((resolve) => setImmediate(resolve))
        expect(released).toBe(1)
      })
    }
    expect(outcomes).toEqual(new Set(['rejected', 'ended']))
  })
})
