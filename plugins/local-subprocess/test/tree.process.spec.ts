import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it, onTestFinished } from 'vitest'
import { endIfAlive, isAlive } from './alive.ts'
import { killMarked } from './marked.ts'
import { launcherOf } from './open-launched.ts'
import { LAUNCHER, openProvider, sh, spec } from './open-provider.ts'
import { startHost } from './run-host.ts'

const isRoot = process.getuid?.() === 0

/** Resolves with the first lines of the output. */
async function lines(handle: SubprocessHandle, count: number): Promise<string[]> {
  const { stdout } = handle.output
  if (stdout === undefined) throw new Error('stdout is not collected')
  for (;;) {
    const complete = stdout.readFrom(0).text.split('\n').slice(0, -1)
    if (complete.length >= count) return complete
    if (!(await stdout.changed(stdout.size(), AbortSignal.timeout(10_000)))) throw new Error(`only ${complete.length} lines came`)
  }
}

/** Never 0, which is the group of the tests themselves. */
async function pidOf(handle: SubprocessHandle): Promise<number> {
  await handle.started
  if (handle.pid === undefined) throw new Error('it was not started')
  return handle.pid
}

describe('who belongs to a tree', () => {
  it.each([
    ['setsid', 'setsid sh -c \'trap "" TERM; echo $$; exec sleep 60\' >&3 2>/dev/null </dev/null &'],
    ['a double fork', 'perl -e \'use POSIX; fork and exit; POSIX::setsid(); fork and exit; $| = 1; print "$$\\n"; sleep 60\' >&3 &'],
    ['nohup setsid', "nohup setsid sh -c 'echo $$; exec sleep 60' >&3 2>/dev/null &"],
  ])('SP-42 who escaped by %s is counted, found by its cookie, and ended', async (_what, script) => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh(`exec 3>&1; ${script} sleep 0.05; exit 0`, { graceMs: 300 }))
    const [pid] = await lines(handle, 1)
    await handle.done
    // The processes in between are on their way out.
    await expect.poll(() => handle.survivors()).toBe(1)
    expect(isAlive(Number(pid))).toBe(true)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
    expect(isAlive(Number(pid))).toBe(false)
  })

  it('SP-42 who cleared its environment and left the session is ended while it is still a descendant', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh("env -i setsid sh -c 'echo $$; exec sleep 60' & wait", { graceMs: 300 }))
    const [pid] = await lines(handle, 1)
    expect(await handle.survivors()).toBe(1)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
    expect(isAlive(Number(pid))).toBe(false)
  })

  it('SP-42 an escapee of a finished leader is ended by the close', async () => {
    const { subprocess, runtime } = await openProvider()
    const handle = subprocess.spawn(sh("setsid sh -c 'echo $$; exec sleep 60 >/dev/null 2>&1' & sleep 0.05; exit 0"))
    const [pid] = await lines(handle, 1)
    await handle.done
    // The group is empty, so the tree has left the live set without a look at the process table.
    while (runtime.live.size > 0) await new Promise((resolve) => setImmediate(resolve))
    expect(isAlive(Number(pid))).toBe(true)
    await runtime.close()
    expect(isAlive(Number(pid))).toBe(false)
  })

  it('SP-42 an escapee of a finished leader is asked before it is killed', async () => {
    const { subprocess, runtime, directory } = await openProvider()
    const script = `trap "echo asked > ${directory}/asked; exit" TERM; echo $$; while :; do sleep 0.02; done >/dev/null 2>&1`
    const handle = subprocess.spawn(sh(`setsid sh -c '${script}' & sleep 0.05; exit 0`))
    await lines(handle, 1)
    await handle.done
    await runtime.close()
    expect(readFileSync(join(directory, 'asked'), 'utf8')).toBe('asked\n')
  })

  it('SP-48 a tree that ended leaves the live set by itself, however many run on', async () => {
    const { subprocess, runtime } = await openProvider()
    for (let count = 0; count < 10; count++) subprocess.spawn(spec(['sleep', '60']))
    await subprocess.spawn(spec(['true'])).done
    while (runtime.live.size > 10) await new Promise((resolve) => setImmediate(resolve))
    expect(runtime.live.size).toBe(10)
  })

  it('SP-48 the close lets go of streams that a stranger still holds, and of those nobody reads', async () => {
    const { subprocess, runtime } = await openProvider()
    const handle = subprocess.spawn(sh('env -i setsid sleep 60 & echo $!; sleep 0.1; exit 0'))
    const [pid] = await lines(handle, 1)
    onTestFinished(() => {
      endIfAlive(Number(pid))
    })
    const raw = subprocess.spawn(sh('echo unread', { stdout: 'pipe' }))
    await Promise.all([handle.done, raw.done])
    expect(runtime.open.size).toBe(3)
    await runtime.close()
    while (runtime.open.size > 0) await new Promise((resolve) => setImmediate(resolve))
    expect([handle.output.stdout?.finished, raw.stdout?.destroyed]).toEqual([true, true])
  })

  it('SP-41 a helper that closed its streams still counts', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh('sleep 60 >/dev/null 2>&1 & exit 3'))
    expect(await handle.done).toEqual({ exitCode: 3, signal: null })
    expect(await handle.survivors()).toBe(1)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
    expect(await handle.survivors()).toBe(0)
  })

  it.runIf(isRoot)('SP-44 a recycled pid and group are never signalled', async () => {
    const { facts, stderr } = await startHost(['recycled'], ['unshare', '--pid', '--fork', '--mount-proc', 'sh', '-c', '"$@" & wait $!', 'sh']).ended
    expect(stderr).toBe('')
    expect(facts[0]).toEqual({ recycled: true, gone: true, strangerLives: true })
  })
})

describe('ending trees', () => {
  it('SP-43 a fork storm under KILL ends', async () => {
    const { subprocess } = await openProvider()
    const storm = 'trap "" TERM; f() { (trap "" TERM; sleep 0.02; f) & (trap "" TERM; exec sleep 60) & wait; }; echo up; f'
    const handle = subprocess.spawn(sh(storm, { graceMs: 200 }))
    await lines(handle, 1)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
    expect(await handle.survivors()).toBe(0)
  })

  it('SP-39 the process that ignores TERM in another session gets KILL after graceMs too', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh('setsid sh -c \'trap "" TERM; echo up; while :; do sleep 0.05; done\' & wait', { graceMs: 200 }))
    await lines(handle, 1)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
  })

  it('SP-40 a tree of 50 processes is gone', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh('for i in $(seq 49); do sleep 60 & done; echo up; wait'))
    await lines(handle, 1)
    expect(await handle.survivors()).toBe(49)
    handle.terminate()
    expect(await handle.waitForExit()).toBe(true)
  })

  it('SP-49 what cannot be ended is named after killWaitMs, and does not stop the others', async () => {
    const spared = new Set<number>()
    const { subprocess, runtime } = await openProvider({
      leavesSurvivors: true,
      settings: { killWaitMs: 300 },
      world: {
        send(pid, signal) {
          if (!spared.has(Math.abs(pid))) process.kill(pid, signal)
        },
      },
    })
    const stuck = subprocess.spawn(sh('exec sleep 60', { graceMs: 100 }))
    const other = subprocess.spawn(sh('exec sleep 60', { graceMs: 100 }))
    const pid = await pidOf(stuck)
    spared.add(pid)
    onTestFinished(() => killMarked(runtime.nonce))
    const error: unknown = await runtime.close().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'TREE_SURVIVED', details: { program: 'sh', pids: [pid] } })
    expect(await other.waitForExit()).toBe(true)
    expect(await stuck.waitForExit()).toBe(false)
  })

  it('SP-49 several failures are one AggregateError, after all were tried', async () => {
    const spared = new Set<number>()
    const { subprocess, runtime } = await openProvider({
      leavesSurvivors: true,
      settings: { killWaitMs: 200 },
      world: {
        send(pid, signal) {
          if (!spared.has(Math.abs(pid))) process.kill(pid, signal)
        },
      },
    })
    const handles = [1, 2, 3].map(() => subprocess.spawn(spec(['sleep', '60'], { graceMs: 50 })))
    for (const handle of handles.slice(0, 2)) spared.add(await pidOf(handle))
    onTestFinished(() => killMarked(runtime.nonce))
    const error: unknown = await runtime.close().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(AggregateError)
    expect((error as AggregateError).errors.map((each: { code: string }) => each.code)).toEqual(['TREE_SURVIVED', 'TREE_SURVIVED'])
    expect(await handles[2]?.waitForExit()).toBe(true)
  })

  it.runIf(LAUNCHER === 'process')('LN-04 SP-49 what the host cannot end is left to the launcher, which ends it and goes', async () => {
    const opened = await openProvider({
      leavesSurvivors: true,
      settings: { killWaitMs: 100 },
      world: { send: () => undefined },
    })
    const { subprocess, runtime, directory } = opened
    const launcher = launcherOf(opened)
    const handle = subprocess.spawn(sh('trap "" TERM; echo $$; while :; do sleep 0.05; done', { graceMs: 100 }))
    const pid = Number((await lines(handle, 1))[0])
    onTestFinished(() => killMarked(runtime.nonce))
    await expect(runtime.close()).rejects.toMatchObject({ code: 'TREE_SURVIVED', details: { program: 'sh' } })
    await expect.poll(() => [isAlive(pid), isAlive(launcher), readdirSync(directory)]).toEqual([false, false, []])
  })

  it('SP-48 starts that fail, and ends that come by themselves, race the close without harm', async () => {
    const { subprocess, runtime } = await openProvider()
    const handles = Array.from({ length: 30 }, (_, index) =>
      subprocess.spawn(index % 3 === 0 ? spec(['no-such-program-anywhere']) : sh(index % 3 === 1 ? 'true' : 'sleep 60')),
    )
    const settled = Promise.allSettled(handles.map(({ done }) => done))
    const started = await Promise.all(handles.map((handle) => handle.started))
    await runtime.close()
    expect((await settled).map(({ status }) => status === 'fulfilled')).toEqual(started)
    expect(started.filter((each) => !each)).toHaveLength(10)
    expect(await Promise.all(handles.map((handle) => handle.waitForExit()))).toEqual(handles.map(() => true))
    expect([runtime.live.size, runtime.open.size]).toEqual([0, 0])
  })

  it('SP-48 a close calls off what has not started, and ends what has: each is told which', async () => {
    const { subprocess, runtime } = await openProvider()
    const handles = Array.from({ length: 30 }, () => subprocess.spawn(spec(['sleep', '60'])))
    const settled = Promise.allSettled(handles.map(({ done }) => done))
    await runtime.close()
    const started = await Promise.all(handles.map((handle) => handle.started))
    const facts = (await settled).map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as { code: string }).code))
    expect(facts).toEqual(started.map((each) => (each ? { exitCode: null, signal: 'SIGTERM' } : 'ABORTED_BEFORE_SPAWN')))
    expect([runtime.live.size, runtime.open.size, runtime.starting.size]).toEqual([0, 0, 0])
  })

  it('SP-30 a follower hears the end of the last survivor, also when a stranger still holds the stream', async () => {
    const { subprocess } = await openProvider()
    const handle = subprocess.spawn(sh('env -i setsid sleep 60 & echo $!; sleep 0.1; exit 0', { graceMs: 200 }))
    const [pid] = await lines(handle, 1)
    onTestFinished(() => {
      endIfAlive(Number(pid))
    })
    await handle.done
    const { stdout } = handle.output
    // Without cookie, session and ancestry it is nobody's: the tree is gone, and nothing is expected to write.
    expect(await stdout?.changed(stdout.size(), AbortSignal.timeout(10_000))).toBe(false)
    expect(stdout?.finished).toBe(true)
  })
})
