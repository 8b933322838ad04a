import { getEventListeners } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openProvider, sh, spec } from './open-provider.ts'
import { noMoreTimersThan, timers } from './timers.ts'

function out(handle: SubprocessHandle): string {
  return handle.output.stdout?.readFrom(0).text ?? '<no reader>'
}

async function shows(handle: SubprocessHandle, text: string): Promise<void> {
  const { stdout } = handle.output
  while (!out(handle).includes(text)) {
    if (!(await stdout?.changed(stdout.size(), AbortSignal.timeout(20_000)))) expect(out(handle)).toContain(text)
  }
}

/** What would have ended a host that has no listener of its own. */
function uncaughtFaults(): unknown[] {
  const faults: unknown[] = []
  const note = (fault: unknown): void => void faults.push(fault)
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
  onTestFinished(() => {
    process.off('unhandledRejection', note)
    process.off('uncaughtExceptionMonitor', note)
  })
  return faults
}

/** Keeps every turn of the event loop busy for some milliseconds until the returned function is called. */
function busyLoop(): () => void {
  let busy = true
  const turn = (): void => {
    const until = performance.now() + 4
    while (performance.now() < until);
    if (busy) setImmediate(turn)
  }
  turn()
  return () => {
    busy = false
  }
}

describe('a program that is not there', () => {
  it('SP-05 B088 200 of them under load are 200 contained failures, looked at or not, and nobody else is disturbed', async () => {
    const faults = uncaughtFaults()
    const { subprocess, runtime } = await openProvider()
    const load = [sh('exec yes'), sh('while :; do :; done')].map((each) => subprocess.spawn(each))
    const relax = busyLoop()
    const missing: SubprocessHandle[] = []
    const present: SubprocessHandle[] = []
    const looked: Promise<unknown>[] = []
    for (let index = 0; index < 200; index++) {
      const handle = subprocess.spawn(
        spec([index % 3 === 0 ? '/no/such/program' : 'no-such-program-anywhere'], index % 4 === 0 ? { stdin: { data: 'unread' } } : {}),
      )
      expect(handle.pid).toBeUndefined()
      missing.push(handle)
      // Half of them are looked at long after they failed, or never.
      if (index % 2 === 0) looked.push(handle.done.catch((reason: unknown) => reason))
      if (index % 10 === 0) present.push(subprocess.spawn(spec(['printf', '%s', String(index)])))
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    for (const failure of await Promise.all(looked)) expect(failure).toMatchObject({ code: 'SPAWN_FAILED', cause: { code: 'ENOENT' } })
    expect(await Promise.all(missing.map((handle) => handle.waitForExit()))).toEqual(missing.map(() => true))
    expect(await Promise.all(present.map(({ done }) => done))).toEqual(present.map(() => ({ exitCode: 0, signal: null })))
    expect(present.map(out)).toEqual(present.map((_, index) => String(index * 10)))
    relax()
    // Node tells of a rejection that nobody looked at when the turn it was made in has ended.
    await new Promise((resolve) => setImmediate(resolve))
    expect(faults).toEqual([])
    await expect(missing[1]?.done).rejects.toMatchObject({ code: 'SPAWN_FAILED' })
    for (const handle of load) handle.terminate()
    expect(await Promise.all(load.map((handle) => handle.waitForExit()))).toEqual([true, true])
    await expect.poll(() => [runtime.live.size, runtime.open.size]).toEqual([0, 0])
  })
})

describe('the signal of a spawn', () => {
  it.each([
    ['an error', new Error('enough')],
    ['a text', 'enough'],
    ['an object', { by: 'a person' }],
    ['nothing, which stands for an AbortError', undefined],
  ])('SP-06 aborted before with %s: nothing runs, the cause is the very reason, and nothing listens', async (_what, reason) => {
    const faults = uncaughtFaults()
    const { subprocess, directory } = await openProvider()
    const work = join(directory, 'work')
    mkdirSync(work)
    const signal = AbortSignal.abort(reason)
    const handles = Array.from({ length: 20 }, (_, index) => subprocess.spawn(sh(`: > ran-${index}`, { cwd: work, signal })))
    for (const handle of handles) {
      expect(handle.pid).toBeUndefined()
      expect(await handle.waitForExit()).toBe(true)
      expect(await handle.survivors()).toBe(0)
      handle.terminate()
    }
    const error: unknown = await handles[0]?.done.catch((each: unknown) => each)
    expect(error).toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
    expect((error as Error).cause).toBe(signal.reason)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    // What runs later would find what had run before.
    await subprocess.spawn(sh('sleep 0.1; : > later', { cwd: work })).done
    expect(readdirSync(work)).toEqual(['later'])
    expect(faults).toEqual([])
  })

  it('SP-06 B029 an abort after the start ends the whole tree, at any moment and without any deadline', async () => {
    const { subprocess } = await openProvider()
    const before = timers()
    const controller = new AbortController()
    const tree = `sh -c 'trap "" TERM; echo up; while :; do sleep 0.05; done' & bash -c 'sleep 600 & sleep 600' & setsid sleep 600 & wait`
    const change = { signal: controller.signal, graceMs: 300 }
    const handles = [sh(tree, change), sh('echo up; kill -STOP $$', change), sh('echo up; exec sleep 600', { ...change, graceMs: 10_000 })].map(
      (each) => subprocess.spawn(each),
    )
    for (const handle of handles) await shows(handle, 'up')
    expect(await handles[0]?.survivors()).toBeGreaterThanOrEqual(4)
    await noMoreTimersThan(before)
    controller.abort(new Error('enough'))
    // In the tick of its start, and in that of the abort.
    const other = new AbortController()
    const young = subprocess.spawn(sh('sleep 600 & sleep 600', { signal: other.signal }))
    other.abort()
    for (const handle of [...handles, young]) {
      expect(await handle.waitForExit()).toBe(true)
      expect(await handle.survivors()).toBe(0)
    }
    expect(await handles[2]?.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  })

  it('SP-06 B179 an abort after the end changes no fact', async () => {
    const { subprocess } = await openProvider()
    const controller = new AbortController()
    const handle = subprocess.spawn(sh('echo done; exit 3', { signal: controller.signal }))
    expect(await handle.done).toEqual({ exitCode: 3, signal: null })
    expect(await handle.waitForExit()).toBe(true)
    controller.abort()
    expect(await handle.done).toEqual({ exitCode: 3, signal: null })
    expect(out(handle)).toBe('done\n')
  })
})

describe('where a child runs', () => {
  it('SP-08 in the directory it is given, whatever that is called, also by way of a link', async () => {
    const { subprocess, directory } = await openProvider()
    const odd = join(directory, `a $(touch ran) 'b' "c"\n≤ -d`)
    mkdirSync(odd)
    symlinkSync(odd, join(directory, 'link'))
    for (const cwd of [odd, join(directory, 'link'), `${odd}/../link/.`]) {
      const handle = subprocess.spawn(sh('pwd -P; : > here', { cwd }))
      expect(await handle.done).toEqual({ exitCode: 0, signal: null })
      expect(out(handle)).toBe(`${realpathSync(odd)}\n`)
    }
    expect(readdirSync(odd)).toEqual(['here'])
    expect(readdirSync(directory)).not.toContain('ran')
  })

  it.runIf(process.platform === 'linux')('SP-08 50 at once each lead a session and a group of their own, without a terminal', async () => {
    const { subprocess } = await openProvider()
    const handles = Array.from({ length: 50 }, () => subprocess.spawn(spec(['cat', '/proc/self/stat'])))
    const seen = new Set<number>()
    for (const handle of handles) {
      await handle.done
      const [pid = '', rest = ''] = out(handle).split(' (cat) ')
      const [, , group, session, terminal] = rest.split(' ').map(Number)
      expect([Number(pid), group, session, terminal]).toEqual([handle.pid, handle.pid, handle.pid, 0])
      seen.add(Number(pid))
    }
    expect(seen.size).toBe(50)
    expect(seen).not.toContain(process.pid)
  })

  it.each([
    ['the leader', 'sleep 60 & kill 0; sleep 60'],
    ['a member of a pipeline', 'sleep 60 | (kill 0; sleep 60)'],
    ['a child left behind', '(kill 0) & sleep 60'],
  ])('SP-08 B017 kill 0 by %s ends that command, not the host, and no other', async (_what, script) => {
    const { subprocess } = await openProvider()
    const others = Array.from({ length: 5 }, () => subprocess.spawn(sh('echo up; read -r line; echo "$line"', { stdin: 'pipe' })))
    for (const other of others) await shows(other, 'up')
    const handle = subprocess.spawn(sh(script))
    expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
    expect(await handle.waitForExit()).toBe(true)
    for (const other of others) {
      other.stdin?.end('alive\n')
      expect(await other.done).toEqual({ exitCode: 0, signal: null })
      expect(out(other)).toBe('up\nalive\n')
    }
  })
})

it('B019 no decision anywhere rests on the flag that a signal was sent', () => {
  const root = new URL('../../../', import.meta.url)
  const sources = ['packages', 'plugins'].flatMap((kind) =>
    readdirSync(new URL(kind, root)).flatMap((name) => {
      const source = new URL(`${kind}/${name}/src/`, root)
      return readdirSync(source, { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts'))
        .map((path) => ({ path: `${kind}/${name}/${path}`, text: readFileSync(new URL(path, source), 'utf8') }))
    }),
  )
  const reads = /(?:\.|\?\.)killed\b(?!')|\{[^}]*\bkilled\b[^}:]*\}\s*=/
  expect(['if (child.killed) return', 'const { killed } = child'].map((text) => reads.test(text))).toEqual([true, true])
  expect(sources.length).toBeGreaterThan(100)
  expect(sources.filter(({ text }) => reads.test(text)).map(({ path }) => path)).toEqual([])
})

it.runIf(process.platform === 'linux')(
  'B178 B056 what is written for one host has a name that cannot be guessed, and lies in no workspace',
  async () => {
    const { subprocess, directory, runtime } = await openProvider()
    const workspace = join(directory, 'workspace')
    mkdirSync(workspace)
    writeFileSync(join(workspace, 'own'), '')
    const handles = Array.from({ length: 10 }, () =>
      subprocess.spawn(sh('seq 1000', { cwd: workspace, stdout: { maxBytes: 100, spill: { maxBytes: 100_000 } } })),
    )
    await Promise.all(handles.map(({ done }) => done))
    const names = handles.map((handle) => handle.output.stdout?.spillPath?.split('/').at(-1) ?? 'none')
    expect(new Set(names).size).toBe(10)
    for (const [index, name] of names.entries()) {
      expect(name).toMatch(/[0-9a-zA-Z_-]{16,}/)
      // As a part of it: random digits hold any short number now and then.
      expect(name.split(/[^0-9a-zA-Z]/)).not.toContain(String(handles[index]?.pid))
    }
    expect(runtime.directory.path().split('/').at(-1)?.split('-')).not.toContain(String(process.pid))
    expect(readdirSync(workspace)).toEqual(['own'])
  },
)
