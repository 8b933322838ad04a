import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { assertThere, executableCandidates, findExecutable } from '../src/lookup.ts'
import { WindowsTree } from '../src/tree/windows-tree.ts'
import { FakeMachine } from './fake-machine.ts'

const LEADER = 1_000

/** `taskkill` as it works: `/T` takes along whoever descends from the process, found through parents that are alive. */
function plant(change: { missing?: boolean; ineffective?: boolean } = {}) {
  const machine = new FakeMachine()
  machine.add({ pid: LEADER, parent: FakeMachine.host, group: -1, session: -1 })
  const runs: string[] = []
  const kill = (file: string, args: readonly string[]): void => {
    runs.push([file, ...args].join(' '))
    if (change.missing === true) throw Object.assign(new Error('spawn taskkill ENOENT'), { code: 'ENOENT' })
    if (change.ineffective === true) return
    const doomed = [Number(args[1])]
    for (const pid of doomed) doomed.push(...[...machine.processes.values()].filter(({ parent }) => parent === pid).map((each) => each.pid))
    machine.remove(...doomed)
  }
  const parts = { ...machine.parts, run: async (file: string, args: readonly string[]) => kill(file, args), runSync: kill }
  const events: string[] = []
  const tree = new WindowsTree({ pid: LEADER, cookie: 'nonce.1', graceMs: 1_000 }, parts, {
    left: () => void events.push('left'),
    leaderGone: () => void events.push('leader gone'),
    gone: () => void events.push('gone'),
  })
  const exit = (): void => {
    machine.remove(LEADER)
    tree.leaderEnded()
  }
  return { machine, tree, runs, events, exit }
}

describe('ending a tree on Windows', () => {
  it('SP-46 terminate runs taskkill /T /F at once, asynchronously, and sends no signal', async () => {
    const { machine, tree, runs, events, exit } = plant()
    machine.add({ pid: 1_001, parent: LEADER, group: -1, session: -1 })
    tree.terminate()
    tree.terminate()
    expect(runs).toEqual(['taskkill /PID 1000 /T /F'])
    exit()
    const waited = tree.waitForExit()
    await machine.clock.advance(50)
    expect(await waited).toBe(true)
    expect([machine.sent, events, machine.clock.timers]).toEqual([[], ['gone'], 0])
  })

  it.each([{ missing: true }, { ineffective: true }])('SP-46 a taskkill that does not work (%j) leaves a bounded wait false', async (change) => {
    const { machine, tree, runs } = plant(change)
    tree.terminate()
    const enough = new AbortController()
    const waited = tree.waitForExit(enough.signal)
    await machine.clock.advance(5_000)
    enough.abort()
    expect(await waited).toBe(false)
    // It is tried again with every look.
    expect(runs.length).toBeGreaterThan(3)
    expect(tree.gone).toBe(false)
  })

  it('SP-46 a child that was seen while its parent lived is ended although the parent is gone', async () => {
    const { machine, tree, runs, exit } = plant()
    machine.add({ pid: 1_001, parent: LEADER, group: -1, session: -1 })
    const counting = tree.survivors()
    await machine.clock.advance(15)
    expect(await counting).toBe(1)
    exit()
    tree.terminate()
    await machine.clock.advance(100)
    expect(runs).toEqual(['taskkill /PID 1001 /T /F'])
    expect(tree.gone).toBe(true)
  })

  it('SP-44 a stranger that got the pid of a child, or whose parent’s pid was given to the leader, is no member', async () => {
    const { machine, tree, runs } = plant()
    machine.ticks += 100
    machine.add({ pid: 1_001, parent: LEADER, group: -1, session: -1 })
    machine.add({ pid: 1_002, parent: LEADER, group: -1, session: -1, start: 10 })
    const counting = tree.survivors()
    await machine.clock.advance(15)
    expect(await counting).toBe(1)
    machine.ticks += 100
    machine.add({ pid: 1_001, parent: 4, group: -1, session: -1 })
    const again = tree.survivors()
    await machine.clock.advance(30)
    expect([await again, runs]).toEqual([0, []])
  })

  it('SP-50 at the end of the host taskkill runs synchronously', () => {
    const { machine, tree, runs } = plant()
    tree.killNow(machine.index())
    expect(runs).toEqual(['taskkill /PID 1000 /T /F'])
  })

  it('a tree of which nobody but the leader was seen leaves the live set with it; one with a child stays', async () => {
    const alone = plant()
    alone.exit()
    alone.tree.probe()
    expect(alone.events).toEqual(['left'])
    const { machine, tree, events, exit } = plant()
    machine.add({ pid: 1_001, parent: LEADER, group: -1, session: -1 })
    void tree.survivors()
    await machine.clock.advance(15)
    exit()
    tree.probe()
    expect(events).toEqual([])
  })
})

describe('looking up programs on Windows', () => {
  const env = { Path: 'C:\\bin;"D:\\with space";relative;;', PathExt: '.EXE;.CMD' }

  it('SP-53 PATHEXT applies in order, an explicit extension suppresses it', () => {
    expect(executableCandidates('tool', env, 'win32')).toEqual([
      'C:\\bin\\tool.EXE',
      'C:\\bin\\tool.CMD',
      'D:\\with space\\tool.EXE',
      'D:\\with space\\tool.CMD',
    ])
    expect(executableCandidates('tool.cmd', env, 'win32')).toEqual(['C:\\bin\\tool.cmd', 'D:\\with space\\tool.cmd'])
    expect(executableCandidates('C:\\x\\tool', env, 'win32')).toEqual(['C:\\x\\tool.EXE', 'C:\\x\\tool.CMD'])
    expect(executableCandidates('tool.v2', { PATH: 'C:\\bin' }, 'win32')).toEqual(
      ['.COM', '.EXE', '.BAT', '.CMD'].map((extension) => `C:\\bin\\tool.v2${extension}`),
    )
  })

  it.each(['', '.\\tool', 'bin\\tool', 'bin/tool', 'C:tool'])('SP-53 %j is refused', (name) => {
    expect(() => executableCandidates(name, env, 'win32')).toThrow(expect.objectContaining({ code: 'EXECUTABLE_INVALID' }))
  })

  it('SP-53 an alias of the store, a link that cannot be followed, is accepted as it is', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'lookup-test-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const alias = join(directory, 'python.exe')
    symlinkSync('/nowhere/at/all', alias)
    mkdirSync(join(directory, 'folder.exe'))
    writeFileSync(join(directory, 'plain.exe'), '')
    // Windows' rules for paths do not know this machine's: the candidates are its own, so that what is behind them can be real.
    const here = (name: string): Promise<string> => findExecutable(join(directory, name), {}, 'linux')
    await expect(here('python.exe')).rejects.toMatchObject({ code: 'EXECUTABLE_NOT_FOUND' })
    await expect(here('folder.exe')).rejects.toMatchObject({ code: 'EXECUTABLE_NOT_RUNNABLE' })
    const there = (name: string): Promise<string> => findExecutable(join(directory, name), { PATHEXT: '.EXE' }, 'win32')
    expect(await there('python.exe')).toBe(alias)
    expect(await there('plain.exe')).toBe(join(directory, 'plain.exe'))
    await expect(there('folder.exe')).rejects.toMatchObject({ code: 'EXECUTABLE_NOT_RUNNABLE' })
  })

  it('SP-04 a missing program is found out before a command interpreter is started, with the platform’s own error', () => {
    expect(() => assertThere(['no-such-program', 'a'], env)).toThrow(
      expect.objectContaining({ code: 'ENOENT', syscall: 'spawn no-such-program', path: 'no-such-program', spawnargs: ['a'] }),
    )
  })
})
