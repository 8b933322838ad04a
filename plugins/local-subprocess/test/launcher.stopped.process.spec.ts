import { describe, expect, it } from 'vitest'
import { type Clock, systemClock, type Timer } from '../src/clock.ts'
import { isAlive } from './alive.ts'
import { launcherOf, openLaunched, parentOf, saidAs, stop, textOf } from './open-launched.ts'
import { sh, spec } from './open-provider.ts'

describe('a launcher that is stopped', () => {
  it('LN-04 commands wait, the event loop does not, and after five seconds the launcher is replaced and they run', async () => {
    const opened = await openLaunched()
    await stop(opened.launcher)
    const before = performance.now()
    const handles = Array.from({ length: 20 }, (_, index) => opened.subprocess.spawn(sh(`echo ${index}`)))
    let turns = 0
    const counting = setInterval(() => {
      turns++
    }, 10)
    const facts = await Promise.all(handles.map(({ done }) => done))
    clearInterval(counting)
    const waitedMs = performance.now() - before
    expect(facts).toEqual(handles.map(() => ({ exitCode: 0, signal: null })))
    expect(handles.map(textOf)).toEqual(handles.map((_, index) => `${index}\n`))
    expect(waitedMs).toBeGreaterThan(4_900)
    expect(turns).toBeGreaterThan(200)
    await opened.runtime.launcher.idle()
    expect(isAlive(opened.launcher)).toBe(false)
    expect(await parentOf(opened)).toBe(launcherOf(opened))
    expect(saidAs(opened, 'warn')).toHaveLength(1)
  })

  it('LN-04 an abort settles a start at once, and what was called off never runs, though the launcher goes on', async () => {
    const opened = await openLaunched()
    await stop(opened.launcher)
    const reason = new Error('enough')
    const abort = new AbortController()
    const aborted = opened.subprocess.spawn(sh('echo ran', { signal: abort.signal }))
    const ended = opened.subprocess.spawn(sh('echo ran'))
    const kept = opened.subprocess.spawn(sh('echo kept'))
    const before = performance.now()
    abort.abort(reason)
    ended.terminate()
    await expect(aborted.done).rejects.toMatchObject({ code: 'ABORTED_BEFORE_SPAWN', cause: reason })
    await expect(ended.done).rejects.toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
    expect(await Promise.all([aborted, ended].map((handle) => handle.waitForExit()))).toEqual([true, true])
    expect(performance.now() - before).toBeLessThan(1_000)
    process.kill(opened.launcher, 'SIGCONT')
    expect(await kept.done).toEqual({ exitCode: 0, signal: null })
    expect([aborted, ended, kept].map(textOf)).toEqual(['', '', 'kept\n'])
    expect([aborted.pid, ended.pid]).toEqual([undefined, undefined])
    expect(launcherOf(opened)).toBe(opened.launcher)
  })

  it('LN-04 commands that are each given up before the five seconds are over do not hide it', async () => {
    const opened = await openLaunched()
    await stop(opened.launcher)
    const before = performance.now()
    let givenUp = 0
    while (opened.runtime.launcher.pid === opened.launcher && performance.now() - before < 30_000) {
      const handle = opened.subprocess.spawn(sh('true', { signal: AbortSignal.timeout(500) }))
      await handle.done.then(
        () => undefined,
        () => {
          givenUp++
        },
      )
    }
    expect(givenUp).toBeGreaterThan(3)
    expect(performance.now() - before).toBeLessThan(15_000)
  })

  it('LN-04 a command that runs is ended all the same, and its end is told when the launcher is given up', async () => {
    const opened = await openLaunched()
    const handle = opened.subprocess.spawn(spec(['sleep', '600']))
    await handle.started
    await stop(opened.launcher)
    handle.terminate()
    await expect.poll(() => isAlive(handle.pid ?? 0)).toBe(false)
    expect(await handle.done).toEqual({ exitCode: null, signal: null, lost: true })
    expect(await handle.waitForExit()).toBe(true)
  })

  it('LN-04 LN-11 closing does not wait for it longer than for a tree that is not to be ended', async () => {
    const opened = await openLaunched()
    const running = opened.subprocess.spawn(spec(['sleep', '600']))
    await running.started
    await stop(opened.launcher)
    const waiting = opened.subprocess.spawn(spec(['sleep', '600']))
    const before = performance.now()
    await opened.close()
    expect(performance.now() - before).toBeLessThan(1_000 + 5_000 + 4_000)
    await expect(waiting.done).rejects.toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
    expect(await running.done).toEqual({ exitCode: null, signal: null, lost: true })
    expect([isAlive(opened.launcher), isAlive(running.pid ?? 0)]).toEqual([false, false])
  })

  it('LN-04 while nothing is owed there is no timer, and a launcher that was stopped meanwhile is taken as it is', async () => {
    const timers = new Set<Timer>()
    const clock: Clock = {
      now: systemClock.now,
      after(delayMs, call) {
        const timer = systemClock.after(delayMs, () => {
          timers.delete(counted)
          call()
        })
        const counted: Timer = {
          hold: (host) => timer.hold(host),
          cancel() {
            timers.delete(counted)
            timer.cancel()
          },
        }
        timers.add(counted)
        return counted
      },
    }
    const opened = await openLaunched({ world: { clock } })
    const idle = opened.subprocess.spawn(spec(['sleep', '600']))
    await idle.started
    await expect.poll(() => timers.size).toBe(0)
    await stop(opened.launcher)
    expect(timers.size).toBe(0)
    process.kill(opened.launcher, 'SIGCONT')
    expect(await parentOf(opened)).toBe(opened.launcher)
    expect(saidAs(opened, 'warn')).toEqual([])
  })
})

describe('a host that is held up', () => {
  it('LN-04 an event loop that stands still for ten seconds while commands end loses no exit, and not the launcher', async () => {
    const opened = await openLaunched()
    const handles = Array.from({ length: 10 }, (_, index) => opened.subprocess.spawn(sh(`sleep 0.${index}; echo ${index}; exit ${index}`)))
    const until = performance.now() + 10_000
    while (performance.now() < until);
    expect(await Promise.all(handles.map(({ done }) => done))).toEqual(handles.map((_, exitCode) => ({ exitCode, signal: null })))
    expect(handles.map(textOf)).toEqual(handles.map((_, index) => `${index}\n`))
    expect(launcherOf(opened)).toBe(opened.launcher)
    expect(saidAs(opened, 'warn')).toEqual([])
  })
})
