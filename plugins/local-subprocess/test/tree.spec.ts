import { describe, expect, it } from 'vitest'
import { PosixTree } from '../src/tree/posix-tree.ts'
import { FakeMachine, type FakeProcess } from './fake-machine.ts'

const COOKIE = 'nonce.7'
const LEADER = 1_000

function plant(machine: FakeMachine, change: Partial<FakeProcess> = {}) {
  machine.add({ pid: LEADER, parent: FakeMachine.host, group: LEADER, session: LEADER, cookie: COOKIE, ...change })
  const events: string[] = []
  const tree = new PosixTree({ pid: LEADER, cookie: COOKIE, graceMs: 1_000 }, machine.parts, {
    left: () => void events.push('left'),
    leaderGone: () => void events.push('leader gone'),
    gone: () => void events.push('gone'),
  })
  const exit = (): void => {
    machine.remove(LEADER)
    tree.leaderEnded()
  }
  return { tree, events, exit }
}

/** A member that the leader left behind. */
function member(pid: number, change: Partial<FakeProcess> = {}): FakeProcess {
  return { pid, parent: 1, group: LEADER, session: LEADER, cookie: COOKIE, ...change }
}

async function counted(machine: FakeMachine, tree: PosixTree): Promise<number> {
  const counting = tree.survivors()
  await machine.clock.advance(15)
  return counting
}

describe('the tree of a spawn', () => {
  it('SP-44 after natural exit and observed absence terminate sends and probes nothing', async () => {
    const machine = new FakeMachine()
    const { tree, exit, events } = plant(machine)
    exit()
    const waited = tree.waitForExit()
    await machine.clock.advance(20)
    expect(await waited).toBe(true)
    expect(events).toEqual(['gone'])
    machine.sent.length = 0
    machine.add({ pid: LEADER, group: LEADER, session: LEADER, cookie: 'other.1' })
    tree.terminate()
    tree.probe()
    await machine.clock.advance(5_000)
    expect([machine.sent, machine.clock.timers, await tree.survivors()]).toEqual([[], 0, 0])
  })

  it('SP-44 a pid that was given to another process is never signalled', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    expect(await counted(machine, tree)).toBe(1)
    exit()
    // The survivor ends unseen, and its number goes to a stranger.
    machine.ticks += 500
    machine.remove(1_001)
    machine.add({ pid: 1_001, group: 1_001, session: 1_001 })
    tree.terminate()
    await machine.clock.advance(5_000)
    expect(machine.sent.filter((each) => !each.startsWith('0 '))).toEqual([])
    expect(tree.gone).toBe(true)
  })

  it('SP-44 a group number that was given away is never signalled: its new leader shows it', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    exit()
    tree.probe()
    machine.remove(1_001)
    machine.ticks += 500
    machine.add({ pid: LEADER, group: LEADER, session: LEADER }, { pid: 1_050, parent: LEADER, group: LEADER, session: LEADER })
    tree.terminate()
    await machine.clock.advance(5_000)
    expect(machine.sent.filter((each) => !each.startsWith('0 '))).toEqual([])
    expect(tree.gone).toBe(true)
  })

  it('SP-44 a group number that was given away is never signalled: those in it are younger than the exit', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    exit()
    tree.probe()
    machine.remove(1_001)
    machine.ticks += 500
    machine.add({ pid: 1_050, parent: 1, group: LEADER, session: LEADER })
    tree.terminate()
    await machine.clock.advance(5_000)
    expect(machine.sent.filter((each) => !each.startsWith('0 '))).toEqual([])
    expect(tree.gone).toBe(true)
  })

  it('SP-41 a survivor without a cookie that was there before the exit belongs to the tree', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add({ pid: 1_001, group: LEADER, session: LEADER, ignores: ['SIGTERM'] })
    exit()
    machine.ticks += 500
    expect(await counted(machine, tree)).toBe(1)
    tree.terminate()
    await machine.clock.advance(2_000)
    expect(machine.sent).toContain('SIGKILL -1000')
    expect(tree.gone).toBe(true)
  })

  it('SP-42 who left group and session is found by the cookie, and by descent', async () => {
    const machine = new FakeMachine()
    const { tree } = plant(machine)
    machine.add(
      { pid: 1_100, parent: 1, cookie: COOKIE },
      { pid: 1_200, parent: LEADER },
      { pid: 1_201, parent: 1_200 },
      { pid: 1_300, parent: 1, cookie: 'nonce.70' },
    )
    expect(await counted(machine, tree)).toBe(3)
    tree.terminate()
    await machine.clock.advance(20)
    expect(machine.sent.slice(0, 2)).toEqual(['SIGTERM -1000', 'SIGCONT -1000'])
    expect(machine.sent).toEqual(expect.arrayContaining(['SIGTERM 1100', 'SIGTERM 1200', 'SIGTERM 1201']))
    expect(machine.processes.has(1_300)).toBe(true)
  })

  it('SP-42 a descendant that was seen stays a member after its parent ended', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add({ pid: 1_200, parent: LEADER, group: 1_200 })
    expect(await counted(machine, tree)).toBe(1)
    exit()
    machine.add({ pid: 1_200, parent: 1, group: 1_200, start: 1_000 })
    expect(await counted(machine, tree)).toBe(1)
  })

  it('SP-45 a group of zombies counts as gone', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001, { zombie: true }))
    exit()
    const waited = tree.waitForExit()
    await machine.clock.advance(20)
    expect(await waited).toBe(true)
  })

  it('SP-45 an unreadable process table counts as alive', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    exit()
    machine.readable = false
    const waited = tree.waitForExit()
    await machine.clock.advance(10_000)
    expect(tree.gone).toBe(false)
    machine.readable = true
    await machine.clock.advance(1_000)
    expect(await waited).toBe(true)
  })

  it('SP-45 a group that is there although nobody was seen in it is not gone yet', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    exit()
    // The snapshot misses the member: it was forked while the table was read.
    const whole = machine.snapshotSync()
    machine.snapshot = async () => whole && { ...whole, entries: new Map([...whole.entries].filter(([pid]) => pid !== 1_001)) }
    const waited = tree.waitForExit()
    await machine.clock.advance(5_000)
    expect(tree.gone).toBe(false)
    machine.remove(1_001)
    await machine.clock.advance(1_000)
    expect(await waited).toBe(true)
  })

  it('SP-45 a look that began before the leader’s exit cannot show the absence', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    const early = machine.snapshotSync()
    let deliver = (): void => undefined
    machine.snapshot = () =>
      new Promise((resolve) => {
        deliver = () => resolve(early)
      })
    const counting = tree.survivors()
    await machine.clock.advance(15)
    // The leader leaves one in a session of its own behind, and exits, while the table is being read.
    machine.add({ pid: 1_100, parent: 1, cookie: COOKIE })
    await machine.clock.advance(1)
    exit()
    deliver()
    await counting
    expect(tree.gone).toBe(false)
  })

  it('SP-45 the host, its group, its ancestors and pid 1 are never targets, whatever the evidence', async () => {
    const machine = new FakeMachine()
    machine.remove(FakeMachine.host)
    // The host is the child of a tree that it started itself, and carries its cookie.
    machine.add({ pid: FakeMachine.host, parent: 1_100, group: 501, session: LEADER, cookie: COOKIE }, { pid: 1_100, parent: 1, cookie: COOKIE })
    machine.add({ pid: 502, parent: LEADER, group: 501, cookie: COOKIE }, { pid: 1, cookie: COOKIE, parent: LEADER })
    const { tree } = plant(machine)
    tree.terminate()
    await machine.clock.advance(5_000)
    expect(machine.sent.filter((each) => !/ -?1000$/.test(each))).toEqual([])
  })

  it('SP-45 ESRCH and EPERM are answers: another user’s member is left, and nobody hears an error', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001, { foreign: true }))
    exit()
    tree.terminate()
    const waited = tree.waitForExit(AbortSignal.abort())
    await machine.clock.advance(3_000)
    expect(await waited).toBe(false)
    expect(tree.remaining).toEqual([1_001])
  })
})

describe('ending a tree', () => {
  it('SP-39 TERM, then CONT at once; KILL after graceMs; two calls are one escalation', async () => {
    const machine = new FakeMachine()
    const { tree } = plant(machine, { ignores: ['SIGTERM', 'SIGKILL'] })
    tree.terminate()
    expect(machine.sent).toEqual(['SIGTERM -1000', 'SIGCONT -1000'])
    await machine.clock.advance(600)
    tree.terminate()
    await machine.clock.advance(399)
    expect(machine.sent).toHaveLength(2)
    await machine.clock.advance(1)
    expect(machine.sent[2]).toBe('SIGKILL -1000')
  })

  it('SP-39 the escalation goes on after the leader exited, holds the host, and ends with the observed absence', async () => {
    const machine = new FakeMachine()
    const { tree, exit, events } = plant(machine)
    machine.add(member(1_001, { ignores: ['SIGTERM'] }))
    tree.terminate()
    exit()
    await machine.clock.advance(900)
    expect([tree.gone, machine.clock.holding > 0]).toEqual([false, true])
    machine.remove(1_001)
    // The next look is at most a back-off away.
    await machine.clock.advance(1_000)
    expect([tree.gone, events, machine.clock.timers]).toEqual([true, ['gone'], 0])
    expect(machine.sent.filter((each) => each.startsWith('SIGKILL'))).toEqual([])
  })

  it('SP-39 members that the group’s signal did not reach are told once', async () => {
    const machine = new FakeMachine()
    const { tree } = plant(machine, { ignores: ['SIGTERM'] })
    machine.add({ pid: 1_100, cookie: COOKIE, ignores: ['SIGTERM'] }, member(1_001, { ignores: ['SIGTERM'] }))
    tree.terminate()
    await machine.clock.advance(900)
    expect(machine.sent).toEqual(['SIGTERM -1000', 'SIGCONT -1000', 'SIGTERM 1100', 'SIGCONT 1100'])
  })

  it('SP-43 what was forked meanwhile is captured again and killed until nothing is left', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine, { ignores: ['SIGTERM'] })
    tree.terminate()
    await machine.clock.advance(500)
    machine.add(member(1_001, { ignores: ['SIGTERM'] }), { pid: 1_100, cookie: COOKIE, ignores: ['SIGTERM'] })
    await machine.clock.advance(500)
    exit()
    machine.add({ pid: 1_101, parent: 1_100, cookie: COOKIE })
    await machine.clock.advance(1_000)
    expect(machine.processes.has(1_100)).toBe(false)
    expect(machine.processes.has(1_101)).toBe(false)
    expect(tree.gone).toBe(true)
  })

  it('SP-48 at the end of the host everybody is killed at once', () => {
    const machine = new FakeMachine()
    const { tree } = plant(machine)
    machine.add(member(1_001), { pid: 1_100, cookie: COOKIE })
    tree.killNow(machine.index())
    expect([LEADER, 1_001, 1_100].filter((pid) => machine.processes.has(pid))).toEqual([])
  })
})

describe('watching', () => {
  it('SP-54 while the leader lives, or nobody waits, there is neither a timer nor a look', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    void tree.waitForExit()
    await machine.clock.advance(60_000)
    expect([machine.looks, machine.clock.timers]).toEqual([[], 0])
    const other = new FakeMachine()
    const idle = plant(other)
    other.add(member(1_001))
    idle.exit()
    idle.tree.probe()
    await other.clock.advance(60_000)
    expect([other.looks, other.clock.timers, other.sent]).toEqual([[], 0, ['0 -1000']])
    exit()
    await machine.clock.advance(0)
    expect(machine.looks).toHaveLength(1)
  })

  it('SP-54 500 waiters share one back-off from 15 ms to 1 s', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    exit()
    const waiting = Array.from({ length: 500 }, () => tree.waitForExit())
    await machine.clock.advance(5_000)
    const steps = machine.looks.slice(1).map((at, index) => at - (machine.looks[index] ?? 0))
    expect(steps.slice(0, 7)).toEqual([15, 30, 60, 120, 240, 480, 960])
    expect(new Set(steps.slice(7))).toEqual(new Set([1_000]))
    machine.remove(1_001)
    await machine.clock.advance(1_000)
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([true]))
    expect(machine.clock.timers).toBe(0)
  })

  it('SP-54 two looks never begin within 15 ms, whoever asks', async () => {
    const machine = new FakeMachine()
    const { tree } = plant(machine)
    for (let count = 0; count < 100; count++) {
      void tree.survivors()
      await machine.clock.advance(1)
    }
    const steps = machine.looks.slice(1).map((at, index) => at - (machine.looks[index] ?? 0))
    expect(machine.looks.length).toBeGreaterThan(5)
    expect(Math.min(...steps)).toBeGreaterThanOrEqual(15)
  })

  it('SP-54 a follower that reads and waits in turn does not start the back-off again with every line', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    exit()
    for (let line = 0; line < 1_000; line++) {
      tree.follow(true)
      await machine.clock.advance(5)
      tree.follow(false)
    }
    expect(machine.looks.length).toBeLessThan(15)
  })

  it('a wait whose signal aborts leaves nothing behind, and only waiting for the exit holds the host', async () => {
    const machine = new FakeMachine()
    const { tree, exit } = plant(machine)
    machine.add(member(1_001))
    exit()
    tree.follow(true)
    await machine.clock.advance(100)
    expect([machine.clock.timers, machine.clock.holding]).toEqual([1, 0])
    const controller = new AbortController()
    const waited = tree.waitForExit(controller.signal)
    expect(machine.clock.holding).toBe(1)
    controller.abort()
    expect(await waited).toBe(false)
    expect([machine.clock.timers, machine.clock.holding]).toEqual([1, 0])
    tree.follow(false)
    await machine.clock.advance(1_000)
    expect(machine.clock.timers).toBe(0)
  })
})
