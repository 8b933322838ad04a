import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kernel } from '@tenon/kernel'
import { Subprocess, type SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isAlive } from './alive.ts'
import localSubprocess from './launched.ts'
import { openLaunched, parentOf, textOf } from './open-launched.ts'
import { sh } from './open-provider.ts'

const HOSTILE = 'trap "" TERM; echo up; read line; echo "after $line"'

async function boot() {
  const kernel = new Kernel()
  onTestFinished(() => kernel.close())
  const row = kernel.load(localSubprocess)
  await row.ready()
  const spawn = (script: string, change = {}): SubprocessHandle => {
    const subprocess = kernel.get(Subprocess)
    if (subprocess === undefined) throw new Error('nobody provides subprocess')
    return subprocess.spawn(sh(script, change))
  }
  const parent = async (): Promise<number> => {
    const handle = spawn('echo $PPID')
    await handle.done
    return Number(textOf(handle))
  }
  return { kernel, row, spawn, parent, launcher: await parent() }
}

describe('a reload of the provider', () => {
  it('LN-06 by code and by config keeps the launcher and its trees, whose ends are told', async () => {
    const { kernel, row, spawn, parent, launcher } = await boot()
    expect(launcher).not.toBe(process.pid)
    const handle = spawn(HOSTILE, { stdin: 'pipe' })
    await handle.output.stdout?.changed(0, AbortSignal.timeout(10_000))
    await row.replace({ ...localSubprocess })
    expect(await parent()).toBe(launcher)
    await row.reconfigure({ environment: { deny: ['HOME'] } })
    expect(await parent()).toBe(launcher)
    expect(await handle.survivors()).toBe(0)
    handle.stdin?.end('reload\n')
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    expect(textOf(handle)).toBe('up\nafter reload\n')
    await kernel.close()
    expect(isAlive(launcher)).toBe(false)
  })

  it('LN-06 to host launch and back: what the launcher started stays with it, later commands are started as the config says', async () => {
    const { row, spawn, parent, launcher } = await boot()
    const handle = spawn(HOSTILE, { stdin: 'pipe' })
    await handle.started
    await row.reconfigure({ launcher: 'host' })
    expect(await parent()).toBe(process.pid)
    handle.stdin?.end('change\n')
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    await row.reconfigure({ launcher: 'process' })
    expect(await parent()).toBe(launcher)
  })

  it('LN-06 spawns that are on their way when the row reloads all arrive', async () => {
    const { row, spawn } = await boot()
    const handles = Array.from({ length: 50 }, (_, index) => spawn(`echo ${index}`))
    await row.replace({ ...localSubprocess })
    handles.push(...Array.from({ length: 50 }, (_, index) => spawn(`echo ${index + 50}`)))
    expect(await Promise.all(handles.map(({ done }) => done))).toEqual(handles.map(() => ({ exitCode: 0, signal: null })))
    expect(handles.map(textOf)).toEqual(handles.map((_, index) => `${index}\n`))
  })

  it('LN-06 unloading the row ends trees and launcher, and what was on its way is told', async () => {
    const { row, spawn, launcher } = await boot()
    const running = spawn('trap "" TERM; echo up; while :; do sleep 0.05; done', { graceMs: 100 })
    await running.output.stdout?.changed(0, AbortSignal.timeout(10_000))
    const starting = Array.from({ length: 20 }, () => spawn('sleep 600', { graceMs: 10_000 }))
    await row.unload()
    expect(await running.done).toEqual({ exitCode: null, signal: 'SIGKILL' })
    for (const handle of starting) {
      const outcome = await handle.done.then(
        ({ signal }) => signal,
        ({ code }: { code: string }) => code,
      )
      expect(['ABORTED_BEFORE_SPAWN', 'SIGTERM']).toContain(outcome)
      expect(handle.pid === undefined || !isAlive(handle.pid)).toBe(true)
    }
    expect([isAlive(launcher), isAlive(running.pid ?? 0)]).toEqual([false, false])
  })
})

describe('the private directory', () => {
  it('LN-06 of another spillDirectory: the launcher stays where it is, and works for the new one', async () => {
    const other = mkdtempSync(join(tmpdir(), 'reload-test-'))
    onTestFinished(() => rmSync(other, { recursive: true, force: true }))
    const opened = await openLaunched()
    opened.runtime.adopt({ ...opened.runtime.settings, spillDirectory: other, pipeDirectories: [other] }, opened.runtime.warnings.log)
    expect(await parentOf(opened)).toBe(opened.launcher)
    expect(readdirSync(other)).toHaveLength(1)
    await opened.close()
    expect([readdirSync(other), readdirSync(opened.directory)]).toEqual([[], []])
  })

  it('LN-06 that a cleaner takes away under a launcher: commands go on, in a fresh directory, and so does the next launcher', async () => {
    const opened = await openLaunched()
    const running = opened.subprocess.spawn(sh('read line; echo "after $line"', { stdin: 'pipe' }))
    await running.started
    await opened.runtime.channels.stock.idle()
    rmSync(opened.runtime.directory.path(), { recursive: true })
    expect(await parentOf(opened)).toBe(opened.launcher)
    running.stdin?.end('cleaning\n')
    expect(await running.done).toEqual({ exitCode: 0, signal: null })
    expect(textOf(running)).toBe('after cleaning\n')
    await opened.runtime.channels.stock.idle()
    rmSync(opened.runtime.directory.path(), { recursive: true })
    process.kill(opened.launcher, 'SIGKILL')
    await expect.poll(() => opened.runtime.launcher.pid).toBeUndefined()
    await opened.runtime.launcher.idle()
    const { pid } = opened.runtime.launcher
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe(opened.runtime.directory.path())
    expect(await parentOf(opened)).toBe(pid)
  })

  it('LN-07 that goes in the middle of a start: the command fails, with what has happened', async () => {
    const opened = await openLaunched()
    for (let round = 0; round < 10; round++) {
      await opened.runtime.channels.stock.idle()
      process.kill(opened.launcher, 'SIGSTOP')
      const handle = opened.subprocess.spawn(sh('echo ran'))
      rmSync(opened.runtime.directory.path(), { recursive: true })
      process.kill(opened.launcher, 'SIGCONT')
      await expect(handle.done).rejects.toMatchObject({ code: 'SPAWN_FAILED', cause: { code: 'ENOENT', syscall: 'open' } })
      expect(await parentOf(opened)).toBe(opened.launcher)
    }
    await expect.poll(() => [opened.runtime.starting.size, opened.runtime.live.size]).toEqual([0, 0])
  })
})
