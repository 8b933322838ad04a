import { getEventListeners } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SubprocessError } from '@tenon/subprocess'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Executor, withExecutor } from './executor.ts'
import { spawnFailed } from './scripted-subprocess.ts'

/** An executor that knows its program. */
async function withKnownProgram(body: (executor: Executor) => Promise<void>): Promise<void> {
  await withExecutor({}, async (executor) => {
    await executor.execute({ command: 'true' })
    await body(executor)
  })
}

describe('a launch of which nothing has to be waited for', () => {
  it('SH-14 is spawned before execute returns, without a look at directory or program', () =>
    withKnownProgram(async ({ execute, processes }) => {
      const starting = execute({ command: 'true', workdir: '/no/such/place' })
      expect(processes.spawned).toHaveLength(2)
      expect(processes.resolved).toHaveLength(1)
      expect(await starting).toMatchObject({ status: 'running' })
    }))

  it.each(['ENOENT', 'ENOTDIR', 'EACCES'])('SH-14 a start that fails with %s in a directory that is none is SHELL_BAD_CWD', (code) =>
    withKnownProgram(async ({ execute, processes, directory }) => {
      processes.startFails = spawnFailed(Object.assign(new Error(`spawn ${code}`), { code }))
      const file = join(directory, 'file')
      await writeFile(file, '')
      await expect(execute({ command: 'true', workdir: file })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD', cause: { code: 'ENOTDIR' } })
      await rm(file)
      await expect(execute({ command: 'true', workdir: file })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD', cause: { code: 'ENOENT' } })
      expect(processes.spawned).toHaveLength(3)
      // Neither is a reason: the failure stays what it is.
      const execution = await execute({ command: 'true' })
      await expect(execution.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', cause: { code } })
      expect(processes.spawned).toHaveLength(5)
    }),
  )

  it('SH-15 a start that fails otherwise is not tried again', () =>
    withKnownProgram(async ({ execute, processes }) => {
      processes.startFails = spawnFailed(Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' }))
      const execution = await execute({ command: 'true', workdir: '/no/such/place' })
      await expect(execution.result()).rejects.toMatchObject({ code: 'SHELL_SPAWN', cause: { code: 'EAGAIN' } })
      expect(processes.spawned).toHaveLength(2)
    }))

  it.each(['ELOOP', 'ENAMETOOLONG', 'ESTALE', 'EIO'])('SH-14 a start that fails with %s is looked into like any other', (code) =>
    withKnownProgram(async ({ execute, processes }) => {
      processes.startFails = spawnFailed(Object.assign(new Error(`spawn ${code}`), { code }))
      await expect(execute({ command: 'true', workdir: `/${'x'.repeat(300)}` })).rejects.toMatchObject({
        code: 'SHELL_BAD_CWD',
        cause: { code: 'ENAMETOOLONG' },
      })
    }),
  )

  it('SH-12 an abort before there is a process rejects with the identical reason', () =>
    withKnownProgram(async ({ execute, processes }) => {
      processes.startFails = new SubprocessError('ABORTED_BEFORE_SPAWN', 'bash was not started')
      const controller = new AbortController()
      const starting = execute({ command: 'true', signal: controller.signal })
      controller.abort('why')
      await expect(starting).rejects.toBe('why')
      expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    }))

  it('SH-12 nothing is tried again for a caller who has gone meanwhile', () =>
    withKnownProgram(async ({ execute, processes }) => {
      processes.startFails = spawnFailed(Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' }))
      const controller = new AbortController()
      const reason = new Error('why')
      processes.onSpawn = () => controller.abort(reason)
      await expect(execute({ command: 'true', signal: controller.signal })).rejects.toBe(reason)
      expect(processes.spawned).toHaveLength(2)
    }))

  it.each(['kill', 'none'] as const)('SH-13 both tries have one deadline, under %s, and nothing runs after it', (onExpiry) =>
    withKnownProgram(async ({ execute, processes }) => {
      let now = 0
      vi.spyOn(performance, 'now').mockImplementation(() => now)
      onTestFinished(() => void vi.restoreAllMocks())
      processes.startFails = spawnFailed(Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' }))
      // The start takes its time to fail, on a loop that turns no timer.
      processes.onSpawn = () => {
        now += 400
      }
      const execution = await execute({ command: 'true', timeoutMs: 300, onExpiry })
      expect(await execution.result()).toMatchObject({ timedOut: true, exitCode: null, timeoutMs: 300, durationMs: 400 })
      expect(processes.spawned).toHaveLength(2)
    }),
  )

  it('SH-13 what the first try has left of the deadline is that of the second', () =>
    withKnownProgram(async ({ execute, processes }) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      onTestFinished(() => void vi.useRealTimers())
      processes.startFails = spawnFailed(Object.assign(new Error('spawn ENOENT'), { code: 'ENOENT' }))
      processes.onSpawn = () => {
        processes.onSpawn = () => undefined
        processes.startFails = undefined
        vi.advanceTimersByTime(100)
      }
      // It fails all the same: the failure was decided before.
      const execution = await execute({ command: 'true', timeoutMs: 250 })
      vi.advanceTimersByTime(149)
      expect(processes.last.terminations).toBe(0)
      vi.advanceTimersByTime(1)
      expect(processes.last.terminations).toBe(1)
      processes.last.exit(null, 'SIGTERM')
      expect(await execution.result()).toMatchObject({ timedOut: true, durationMs: 250 })
    }))

  it('SH-53 without a deadline has no timer, with one a single one that goes with it', () =>
    withKnownProgram(async ({ execute, processes }) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      try {
        await execute({ command: 'true', onExpiry: 'none' })
        expect(vi.getTimerCount()).toBe(0)
        const execution = await execute({ command: 'true', timeoutMs: 1_000 })
        expect(vi.getTimerCount()).toBe(1)
        processes.last.exit(0)
        await execution.done
        expect(vi.getTimerCount()).toBe(0)
      } finally {
        vi.useRealTimers()
      }
    }))

  it('SH-12 an abort while it starts ends it, and is its cause', () =>
    withKnownProgram(async ({ execute, processes }) => {
      const controller = new AbortController()
      const starting = execute({ command: 'true', signal: controller.signal })
      controller.abort()
      expect(processes.last.terminations).toBe(1)
      processes.last.exit(null, 'SIGTERM')
      expect(await (await starting).result()).toMatchObject({ aborted: true, signal: 'SIGTERM' })
    }))
})

describe('a resolved spec', () => {
  it('SH-02 cannot be changed, so what was checked is what runs', () =>
    withExecutor({}, async ({ shell }) => {
      const spec = shell.resolve({ command: 'true', env: { A: '1' }, managedEnv: { TENON_A: '1' } })
      expect([spec, spec.env, spec.managedEnv].map(Object.isFrozen)).toEqual([true, true, true])
    }))

  it('SH-02 is checked again where other rules hold', () =>
    withExecutor({}, async ({ shell, processes }) => {
      const spec = shell.resolve({ command: 'true', stdoutMaxBytes: 1_000_000 })
      await withExecutor({ config: { maxSpillBytes: 500_000, maxOutputBytes: 1_000 } }, async (other) => {
        await expect(other.shell.execute(spec)).rejects.toMatchObject({ code: 'SHELL_BAD_REQUEST' })
        expect(other.processes.spawned).toEqual([])
      })
      await shell.execute(spec)
      expect(processes.spawned).toHaveLength(1)
      await expect(shell.execute({ ...spec, command: 'a\0b' })).rejects.toMatchObject({ code: 'SHELL_BAD_COMMAND' })
    }))

  it('SH-02 with a policy, which is an object of somebody else, is checked at each execution', () =>
    withExecutor({}, async ({ shell }) => {
      const sandboxPolicy = { mode: 'danger-full-access' as 'danger-full-access' | 'nonsense', workspaceRoot: '/' }
      const spec = shell.resolve({ command: 'true', sandboxPolicy: sandboxPolicy as never })
      sandboxPolicy.mode = 'nonsense'
      await expect(shell.execute(spec)).rejects.toMatchObject({ code: 'SHELL_BAD_REQUEST' })
    }))
})
