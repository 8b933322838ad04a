import { describe, expect, it } from 'vitest'
import { isAlive } from './alive.ts'
import { kill, launcherOf, openLaunched, parentOf, saidAs, textOf } from './open-launched.ts'
import { sh, spec } from './open-provider.ts'

const LOST = { exitCode: null, signal: null, lost: true }

describe('a launcher that is killed', () => {
  it('LN-03 its commands live on, their output goes on, and their end is told without a status', async () => {
    const opened = await openLaunched()
    const handle = opened.subprocess.spawn(sh('echo before; read line; echo "after $line"; exit 7', { stdin: 'pipe' }))
    await handle.output.stdout?.changed(0, AbortSignal.timeout(10_000))
    await kill(opened)
    expect(isAlive(handle.pid ?? 0)).toBe(true)
    handle.stdin?.end('loss\n')
    expect(await handle.done).toEqual(LOST)
    expect(textOf(handle)).toBe('before\nafter loss\n')
    expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
    expect(await handle.survivors()).toBe(0)
  })

  it('LN-03 terminate ends a whole orphaned tree, one that ignores TERM and one that has left too', async () => {
    const opened = await openLaunched()
    const script = 'trap "" TERM; sh -c \'trap "" TERM; exec sleep 600\' & setsid sh -c \'trap "" TERM; exec sleep 600\' & echo $!; wait'
    const handle = opened.subprocess.spawn(sh(script, { graceMs: 200 }))
    await handle.output.stdout?.changed(0, AbortSignal.timeout(10_000))
    await expect.poll(() => handle.survivors()).toBe(2)
    await kill(opened)
    expect(await handle.survivors()).toBe(2)
    handle.terminate()
    expect(await handle.waitForExit(AbortSignal.timeout(20_000))).toBe(true)
    expect(await handle.done).toEqual(LOST)
    expect(isAlive(Number(textOf(handle)))).toBe(false)
  })

  it('LN-03 an exit that was told before is as it was told, and what its leader left is still looked after', async () => {
    const opened = await openLaunched()
    const handle = opened.subprocess.spawn(sh('sleep 600 & exit 3', { graceMs: 200 }))
    expect(await handle.done).toEqual({ exitCode: 3, signal: null })
    await kill(opened)
    expect(await handle.survivors()).toBe(1)
    handle.terminate()
    expect(await handle.waitForExit(AbortSignal.timeout(20_000))).toBe(true)
  })

  it('LN-03 the next command works at once, the one after it by another launcher, and one warning tells of the loss', async () => {
    const opened = await openLaunched()
    await kill(opened)
    expect(await parentOf(opened)).toBe(process.pid)
    await opened.runtime.launcher.idle()
    const successor = launcherOf(opened)
    expect(successor).not.toBe(opened.launcher)
    expect(await parentOf(opened)).toBe(successor)
    expect(saidAs(opened, 'warn')).toEqual([expect.stringContaining('another launcher is started')])
  })

  it('LN-03 three ends within half a minute are a loop: the host starts commands until the row is activated again', async () => {
    const opened = await openLaunched()
    for (let ends = 0; ends < 3; ends++) {
      await kill({ ...opened, launcher: launcherOf(opened) })
      await opened.runtime.launcher.idle()
    }
    expect(opened.runtime.launcher.pid).toBeUndefined()
    expect(await parentOf(opened)).toBe(process.pid)
    expect(saidAs(opened, 'warn').at(-1)).toContain('the host itself starts commands until the row is reloaded')
    opened.runtime.adopt(opened.runtime.settings, opened.runtime.warnings.log)
    await opened.runtime.launcher.idle()
    expect(await parentOf(opened)).toBe(launcherOf(opened))
  })

  it('LN-03 a command without any output that is kept, and one with a stream that is not read, are told as lost too', async () => {
    const opened = await openLaunched()
    const handle = opened.subprocess.spawn(spec(['sleep', '600'], { stdout: 'pipe', stderr: 'pipe', graceMs: 200 }))
    expect(await handle.started).toBe(true)
    await kill(opened)
    handle.terminate()
    expect(await handle.done).toEqual(LOST)
    expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
  })

  it('LN-03 what is given to it in the very tick of its end begins elsewhere', async () => {
    const opened = await openLaunched()
    process.kill(opened.launcher, 'SIGKILL')
    const handles = Array.from({ length: 10 }, (_, index) => opened.subprocess.spawn(sh(`cat; exit ${index}`, { stdin: { data: `in ${index}` } })))
    expect(await Promise.all(handles.map(({ done }) => done))).toEqual(handles.map((_, exitCode) => ({ exitCode, signal: null })))
    expect(handles.map(textOf)).toEqual(handles.map((_, index) => `in ${index}`))
  })

  it('LN-03 a command that kills its parent takes nobody along; one that asks it to go is not heard', async () => {
    const opened = await openLaunched()
    for (const signal of ['TERM', 'INT', 'HUP', 'QUIT', 'USR1', 'USR2']) {
      expect(await opened.subprocess.spawn(sh(`kill -${signal} $PPID; exit 4`)).done).toEqual({ exitCode: 4, signal: null })
    }
    expect(await parentOf(opened)).toBe(opened.launcher)
    const other = opened.subprocess.spawn(sh('read line; echo "after $line"', { stdin: 'pipe' }))
    await other.started
    const handle = opened.subprocess.spawn(sh('kill -9 $PPID; echo done; exit 4'))
    expect(await handle.done).toEqual(LOST)
    other.stdin?.end('the kill\n')
    expect(await other.done).toEqual(LOST)
    expect([handle, other].map(textOf)).toEqual(['done\n', 'after the kill\n'])
  })

  it('LN-03 closing ends orphaned trees as it ends others', async () => {
    const opened = await openLaunched()
    const handle = opened.subprocess.spawn(sh('trap "" TERM; echo up; while :; do sleep 0.05; done', { graceMs: 200 }))
    await handle.output.stdout?.changed(0, AbortSignal.timeout(10_000))
    await kill(opened)
    await opened.close()
    expect(isAlive(handle.pid ?? 0)).toBe(false)
    expect(await handle.done).toEqual(LOST)
  })
})

describe('a launcher that is killed in the middle of a start', () => {
  it('LN-03 LN-07 each command runs once at most and is told of once, and what had not begun begins elsewhere', async () => {
    const opened = await openLaunched()
    const outcomes: string[] = []
    for (let round = 0; round < 3; round++) {
      opened.runtime.adopt(opened.runtime.settings, opened.runtime.warnings.log)
      await opened.runtime.launcher.idle()
      const launcher = launcherOf(opened)
      const handles = Array.from({ length: 30 }, () => opened.subprocess.spawn(sh('echo ran; exit 5')))
      // When some have begun and some have not.
      await handles[round * 10]?.started
      process.kill(launcher, 'SIGKILL')
      for (const handle of handles) {
        const facts = await handle.done
        expect(await handle.started).toBe(true)
        expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
        const text = textOf(handle)
        expect(['', 'ran\n']).toContain(text)
        // Only one whose start was under way may not have run.
        if (facts.lost !== true) expect([facts, text]).toEqual([{ exitCode: 5, signal: null }, 'ran\n'])
        outcomes.push(facts.lost === true ? 'lost' : 'told')
      }
    }
    expect(outcomes).toContain('told')
    expect([opened.runtime.live.size, opened.runtime.starting.size, opened.runtime.open.size]).toEqual([0, 0, 0])
  })
})
