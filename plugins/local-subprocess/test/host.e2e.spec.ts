import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { endIfAlive, isAlive } from './alive.ts'
import { startHost } from './run-host.ts'

const isRoot = process.getuid?.() === 0

function pidsOf(said: Record<string, unknown> | undefined): number[] {
  return Array.isArray(said?.pids) ? said.pids.map(Number) : []
}

function ownTemp(): string {
  const directory = mkdtempSync(join(tmpdir(), 'host-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** 10,000 where it is proven: about a minute on two busy processors. */
const MIXED = Number(process.env.TENON_MIXED_COMMANDS ?? 1_000)

describe('the end of the host', () => {
  it.each([
    ['exit', 23],
    ['throw', 1],
    ['reject', 1],
  ])('SP-50 %s: trees that ignore TERM are gone, exit code %i and the diagnostic are kept, the directory too is gone', async (how, code) => {
    const temp = ownTemp()
    const { facts, exitCode, stderr } = await startHost(['exits', how], [], { TMPDIR: temp }).ended
    const pids = pidsOf(facts[0])
    expect(pids).toHaveLength(5)
    expect(exitCode).toBe(code)
    expect(stderr.includes('the diagnostic')).toBe(how !== 'exit')
    // KILL was sent; on a loaded machine it takes its time to arrive.
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
    // The launcher removes what came into it while the host removed it.
    await expect.poll(() => readdirSync(temp)).toEqual([])
  })

  it('SP-51 the exit listener stands first, stays until the close is quiet, and the count returns over 30 rounds', async () => {
    const { facts, exitCode } = await startHost(['listeners']).ended
    expect(exitCode).toBe(0)
    expect(facts[0]).toEqual({ first: true })
    expect(facts[1]).toEqual({ counts: Array.from({ length: 30 }, () => 1), after: 0 })
  })

  it.each(['close', 'open'])('SP-31 SP-52 an open stream does not delay the exit of the host (%s)', async (form) => {
    const late: number[] = []
    for (let attempt = 0; attempt < 3 && !late.some((ms) => ms < 100); attempt++) {
      const { facts, exitCode, endedAt } = await startHost(['quick', form]).ended
      expect(exitCode).toBe(0)
      late.push(endedAt - Number(facts[0]?.at))
    }
    expect(Math.min(...late)).toBeLessThan(form === 'close' ? 100 : 300)
  })

  it('SP-35 SP-37 hosts share a temporary directory; that of a killed one is swept at the next start, that of a live one is not', async () => {
    const temp = ownTemp()
    const env = { TMPDIR: temp }
    const killed = startHost(['exits', 'wait'], [], env)
    const live = startHost(['exits', 'wait'], [], env)
    const pids = [...pidsOf(await killed.next()), ...pidsOf(await live.next())]
    expect(readdirSync(temp)).toHaveLength(2)
    killed.child.kill('SIGKILL')
    await killed.ended
    const mine = readdirSync(temp)
    const third = await startHost(['quick', 'close'], [], env).ended
    expect(third.exitCode).toBe(0)
    expect(readdirSync(temp)).toHaveLength(1)
    expect(mine).toEqual(expect.arrayContaining(readdirSync(temp)))
    live.child.kill('SIGKILL')
    await live.ended
    for (const pid of pids) endIfAlive(pid)
  })
})

describe('limits and leaks', () => {
  it('SP-04 out of descriptors a start fails, contained, with EMFILE, and works again afterwards', async () => {
    const { facts, exitCode, stderr } = await startHost(['exhausted'], ['sh', '-c', 'ulimit -n 512; exec "$@"', 'sh']).ended
    expect([exitCode, stderr]).toEqual([0, ''])
    const { started, failures, codes, again } = facts[0] as { started: number; failures: unknown[]; codes: number[]; again: string }
    expect(started).toBeGreaterThan(2)
    expect(failures.length).toBeGreaterThan(2)
    expect(new Set(failures.map(String))).toEqual(new Set(['SPAWN_FAILED,EMFILE']))
    expect([codes, again]).toEqual([[0], 'again\n'])
  })

  it('SP-36 SP-52 true 2,000 times and 50 times at once on one signal: no descriptor, listener, file or warning is left', async () => {
    const temp = ownTemp()
    const { facts } = await startHost(['baseline', '2000', '50'], [], { TMPDIR: temp }).ended
    const { before, after, ...left } = facts[0] as { before: number; after: number }
    expect(after).toBeLessThanOrEqual(before)
    expect(left).toEqual({ listeners: 0, warnings: [] })
    expect(readdirSync(temp)).toEqual([])
  })

  it(`SP-31 ${MIXED} commands, some with survivors that hold their streams, mix no two streams`, { timeout: 60_000 + MIXED * 20 }, async () => {
    const { facts, exitCode } = await startHost(['mixed', String(MIXED)]).ended
    expect(exitCode).toBe(0)
    expect(facts[0]).toEqual({ wrong: [] })
  })

  it.runIf(isRoot)('SP-45 as pid 1, where nobody reaps, a group of zombies counts as gone, and the row warns of it', async () => {
    const { facts, stderr } = await startHost(['zombies'], ['unshare', '--pid', '--fork', '--mount-proc']).ended
    expect(stderr).toBe('')
    expect(facts[0]).toEqual({ host: 1, gone: true, survivors: 0, warned: [expect.stringContaining('run it under an init')] })
  })

  it('SP-54 500 idle children need no timer and next to no processor, and end together', async () => {
    const { facts } = await startHost(['idle', '500']).ended
    const { timers, cpu, gone } = facts[0] as { timers: number; cpu: number; gone: boolean }
    // The scenario's own timer is the one.
    expect(timers).toBeLessThanOrEqual(1)
    expect(cpu).toBeLessThan(0.01)
    expect(gone).toBe(true)
  })

  it('SP-55 under four floods a turn of the loop costs less than 5 ms (p99), so that a timer of 10 ms fires within 20 ms', async () => {
    const { facts } = await startHost(['floods', '4', '3']).ended
    const { turns, p99, bytes } = facts[0] as { turns: number; p99: number; bytes: number[] }
    expect(Math.min(...bytes)).toBeGreaterThan(1_000_000)
    expect(turns).toBeGreaterThan(50)
    expect(p99).toBeLessThan(5)
  })
})
