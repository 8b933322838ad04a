import type { ChildProcess } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StartLedger } from '../src/launch/start-ledger.ts'
import { systemWorld } from '../src/system-world.ts'
import { endIfAlive, isAlive } from './alive.ts'
import { openChildren } from './open-children.ts'
import { openLaunched, textOf } from './open-launched.ts'
import { openOdd } from './open-odd.ts'
import { sh } from './open-provider.ts'

const LOST = { exitCode: null, signal: null, lost: true }

describe('a launcher that is killed before it has told of a start', () => {
  it.each([
    ['in its group', 'ended', ''],
    ['in a session of its own', 'ended', 'setsid '],
    ['in its group, of which nothing was written down', 'forgotten', ''],
  ])('LN-03 what a leader has left %s is a tree: counted, ended and waited for', async (_, way, prefix) => {
    const { subprocess } = await openOdd(way)
    const handle = subprocess.spawn(sh(`${prefix}sleep 600 & echo $! $$`))
    expect(await handle.done).toEqual(LOST)
    const [pid = 0, leader] = textOf(handle).split(' ').map(Number)
    onTestFinished(() => endIfAlive(pid))
    expect(handle.pid).toBe(leader)
    expect(await handle.survivors()).toBe(1)
    expect(await handle.waitForExit(AbortSignal.timeout(50))).toBe(false)
    handle.terminate()
    expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
    expect(isAlive(pid)).toBe(false)
  })

  it('LN-03 what is written from then on is seen by whoever follows it', async () => {
    const { subprocess } = await openOdd('ended')
    const handle = subprocess.spawn(sh('(sleep 0.2; echo one; sleep 0.2; echo two) &'))
    expect(await handle.done).toEqual(LOST)
    const { stdout } = handle.output
    expect(stdout?.finished).toBe(false)
    while (await stdout?.changed(stdout.size(), AbortSignal.timeout(10_000)));
    expect([textOf(handle), stdout?.finished]).toEqual(['one\ntwo\n', true])
  })

  it('LN-03 a leader that has thrown its cookie away is ended all the same', async () => {
    const { subprocess } = await openOdd('noted')
    const handle = subprocess.spawn(sh('echo $$; exec env -i sleep 600'))
    expect(await handle.started).toBe(true)
    await expect.poll(() => textOf(handle)).toContain('\n')
    const { pid = 0 } = handle
    onTestFinished(() => endIfAlive(pid))
    expect(pid).toBe(Number(textOf(handle)))
    handle.terminate()
    expect(await handle.done).toEqual(LOST)
    expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
  })
})

describe('the ledger of starts', () => {
  function openLedger(): StartLedger {
    const directory = mkdtempSync(join(tmpdir(), 'ledger-test-'))
    const ledger = new StartLedger(openSync(join(directory, 'starts'), 'wx+'))
    onTestFinished(() => {
      ledger.close()
      rmSync(directory, { recursive: true })
    })
    return ledger
  }

  it('LN-03 SP-35 is for its user alone, whatever the umask', async () => {
    const real = systemWorld().startLauncher
    const modes: number[] = []
    const startLauncher = (cwd: string): ChildProcess => {
      for (const name of readdirSync(cwd)) if (name.endsWith('.starts')) modes.push(statSync(join(cwd, name)).mode & 0o777)
      return real(cwd)
    }
    const umask = process.umask(0o777)
    await openLaunched({ world: { startLauncher } }).finally(() => process.umask(umask))
    expect(modes).toEqual([0o600])
  })

  it('LN-03 tells of the last thousand, and of nothing else', () => {
    const ledger = openLedger()
    expect(ledger.read(0)).toBeUndefined()
    for (let id = 0; id < 2_000; id++) ledger.write(id, { pid: 4_000_000 - id, ...(id % 2 === 0 && { start: 2 ** 40 + id }) })
    expect(ledger.read(1_999)).toEqual({ pid: 3_998_001 })
    expect(ledger.read(1_998)).toEqual({ pid: 3_998_002, start: 2 ** 40 + 1_998 })
    // Its place is taken.
    expect(ledger.read(1_998 - 1_024)).toBeUndefined()
    ledger.write(1_998 + 1_024, { pid: 1 })
    expect(ledger.read(1_998 + 1_024)).toEqual({ pid: 1 })
    expect(ledger.read(3_000)).toBeUndefined()
  })

  it('LN-03 that cannot be written keeps nobody from starting', () => {
    const descriptor = openSync('/dev/full', 'r+')
    onTestFinished(() => closeSync(descriptor))
    expect(() => new StartLedger(descriptor).write(1, { pid: 1 })).not.toThrow()
  })

  it('LN-03 holds a start before anybody is told of it', async () => {
    const { said, spawn, written } = openChildren()
    spawn(7, 'exit 0', { isSilent: true })
    const pid = expect.any(Number)
    expect([said, written]).toEqual([
      [],
      [
        [7, { pid }],
        [7, { pid, start: expect.any(Number) }],
      ],
    ])
    await expect.poll(() => said.at(-1)).toMatchObject({ type: 'exited', id: 7 })
  })
})
