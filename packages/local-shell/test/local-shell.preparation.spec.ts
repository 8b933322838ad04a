import { getEventListeners } from 'node:events'
import { accessSync, constants, statSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Dialect } from '../src/index.ts'
import { withExecutor } from './executor.ts'

describe('preparation', () => {
  afterEach(() => void vi.useRealTimers())

  it('SH-11 with an aborted signal nothing is looked up, written or spawned', () =>
    withExecutor({}, async ({ execute, processes, directory }) => {
      const execution = await execute({ command: 'x'.repeat(200_000), signal: AbortSignal.abort() })
      expect(await execution.result()).toMatchObject({ aborted: true, exitCode: null })
      expect([processes.resolved, processes.spawned, await readdir(directory)]).toEqual([[], [], []])
    }))

  it.each([new Error('enough'), 'a string', undefined])(
    'SH-12 abort during preparation rejects with the identical reason (%s) and spawns nothing',
    (reason) =>
      withExecutor({}, async ({ execute, processes }) => {
        let found = (_: string): void => undefined
        processes.programs = () =>
          new Promise((resolve) => {
            found = resolve
          })
        const controller = new AbortController()
        const running = execute({ command: 'true', signal: controller.signal })
        controller.abort(reason)
        const thrown = await running.catch((error: unknown) => error)
        expect(thrown).toBe(controller.signal.reason)
        found(process.execPath)
        await Promise.resolve()
        expect(processes.spawned).toEqual([])
      }),
  )

  it.each(['kill', 'none'] as const)(
    'SH-13 a deadline that passes during preparation settles the handle, under %s, and a late preparation starts nothing',
    (onExpiry) =>
      withExecutor({}, async ({ execute, processes }) => {
        let found = (_: string): void => undefined
        processes.programs = () =>
          new Promise((resolve) => {
            found = resolve
          })
        const execution = await execute({ command: 'true', timeoutMs: 20, onExpiry })
        expect(execution).toMatchObject({ status: 'killed', exitCode: null, signal: null })
        expect(await execution.result()).toMatchObject({ timedOut: true, aborted: false, timeoutMs: 20, stdout: { text: '' }, stderr: { text: '' } })
        expect(execution.kill()).toBe(false)
        found(process.execPath)
        await new Promise((resolve) => setImmediate(resolve))
        expect(processes.spawned).toEqual([])
      }),
  )

  it("SH-13 the time of preparation counts against the process's deadline", () =>
    withExecutor({}, async ({ execute, processes }) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      processes.programs = async () => {
        vi.advanceTimersByTime(150)
        return process.execPath
      }
      const execution = await execute({ command: 'true', timeoutMs: 250 })
      vi.advanceTimersByTime(99)
      expect(processes.last.terminations).toBe(0)
      vi.advanceTimersByTime(1)
      expect(processes.last.terminations).toBe(1)
      processes.last.exit(null, 'SIGTERM')
      expect(await execution.result()).toMatchObject({ timedOut: true, signal: 'SIGTERM' })
    }))

  it('SH-14 the program is resolved once, looked for again when it cannot be started, and discovered again after SHELL_MISSING', () => {
    const discovered: string[] = []
    const dialect: Dialect = {
      name: 'bash',
      env: {},
      discover: () => {
        discovered.push('bash')
        return 'bash'
      },
      launch: (command) => ({ form: 'argument', args: [command] }),
    }
    return withExecutor({ dialect }, async ({ execute, processes, directory }) => {
      expect(discovered).toHaveLength(1)
      processes.onSpawn = ({ spec }) => {
        accessSync(spec.argv[0], constants.X_OK)
        if (statSync(spec.argv[0]).isDirectory()) throw Object.assign(new Error('spawn EACCES'), { code: 'EACCES' })
      }
      const path = join(directory, 'bash')
      processes.programs = () => Promise.reject(new Error('not found'))
      const message = 'bash cannot be run as "bash" (the setting "executable" is not given): not found'
      await expect(execute({ command: '' })).rejects.toMatchObject({ code: 'SHELL_MISSING', message })
      await writeFile(path, '', { mode: 0o755 })
      processes.programs = async () => path
      for (let count = 0; count < 3; count++) await execute({ command: '' })
      expect(discovered).toHaveLength(2)
      expect(processes.resolved).toHaveLength(2)
      await writeFile(join(directory, 'other'), '', { mode: 0o755 })
      await unlink(path)
      processes.programs = async () => join(directory, 'other')
      await execute({ command: '' })
      expect(processes.last.spec.argv[0]).toBe(join(directory, 'other'))
      expect(processes.resolved).toHaveLength(3)
      // What lost its right to run is looked up again, and so is what became a directory.
      await chmod(join(directory, 'other'), 0o644)
      await execute({ command: '' })
      await unlink(join(directory, 'other'))
      await mkdir(join(directory, 'other'))
      await execute({ command: '' })
      expect(processes.resolved).toHaveLength(5)
    })
  })

  it('SH-14 the order of report is directory, program, sandbox', () =>
    withExecutor({}, async ({ execute, processes, directory }) => {
      const sandboxPolicy = { mode: 'read-only', workspaceRoot: '/' } as const
      const missing = { command: '', sandboxPolicy, workdir: join(directory, 'no') }
      processes.programs = () => Promise.reject(new Error('not found'))
      await expect(execute(missing)).rejects.toMatchObject({ code: 'SHELL_BAD_CWD' })
      await mkdir(missing.workdir)
      await expect(execute(missing)).rejects.toMatchObject({ code: 'SHELL_MISSING' })
      processes.programs = async () => process.execPath
      await expect(execute(missing)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    }))

  it('SH-27 a long text is a private file that only its owner can read, named in no other argument, and gone at settlement', () =>
    withExecutor({}, async ({ execute, processes, directory }) => {
      const command = `#${'x'.repeat(96 * 1024)}\n`
      const execution = await execute({ command })
      const [folder] = await readdir(directory)
      const [file] = await readdir(join(directory, folder ?? ''))
      const path = join(directory, folder ?? '', file ?? '')
      expect((await stat(path)).mode & 0o777).toBe(0o600)
      expect((await stat(join(directory, folder ?? ''))).mode & 0o777).toBe(0o700)
      expect(processes.last.spec.argv.slice(0, 3)).toEqual([process.execPath, '--norc', '-c'])
      expect(processes.last.spec.argv[3]).toContain(path)
      processes.last.exit(0)
      await execution.done
      await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
    }))

  it('SH-27 a directory that a cleaner took is made anew', () =>
    withExecutor({}, async ({ execute, directory, processes }) => {
      const command = 'x'.repeat(100_000)
      await execute({ command })
      const [folder] = await readdir(directory)
      await rm(join(directory, folder ?? ''), { recursive: true })
      await Promise.all([execute({ command }), execute({ command })])
      expect(await readdir(directory)).toHaveLength(1)
      expect(processes.spawned).toHaveLength(3)
    }))

  it('SH-53 whatever fails, timers and listeners are gone', () =>
    withExecutor({}, async ({ execute, processes, directory }) => {
      const { signal } = new AbortController()
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
      const request = { command: '', signal, timeoutMs: 60_000 }
      await expect(execute({ ...request, workdir: join(directory, 'no') })).rejects.toMatchObject({ code: 'SHELL_BAD_CWD' })
      processes.startFails = new Error('EAGAIN')
      await (await execute(request)).done
      processes.startFails = undefined
      processes.onSpawn = () => {
        throw new Error('broken provider')
      }
      await (await execute(request)).done
      processes.onSpawn = (started) => started.exit(0)
      await (await execute(request)).done
      expect(getEventListeners(signal, 'abort')).toEqual([])
      expect(vi.getTimerCount()).toBe(0)
    }))
})
