import { expect, it } from 'vitest'
import { PosixTree } from '../src/tree/posix-tree.ts'
import { FakeMachine } from './fake-machine.ts'

const LEADER = { pid: 1_000, start: 1_000, cookie: 'nonce.7', graceMs: 1_000 }

it('LN-03 a look that was under way when the launcher was lost says nothing of a leader that began meanwhile', async () => {
  const machine = new FakeMachine()
  const early = machine.snapshotSync()
  const takeSnapshot = machine.snapshot
  let deliver = (): void => undefined
  machine.snapshot = () =>
    new Promise((resolve) => {
      deliver = () => resolve(early)
    })
  void machine.watch.look()
  await machine.clock.advance(15)
  machine.add({ pid: LEADER.pid, parent: 1, group: LEADER.pid, session: LEADER.pid, cookie: LEADER.cookie })
  const events: string[] = []
  const note = (event: string) => (): void => void events.push(event)
  const tree = new PosixTree(LEADER, machine.parts, { left: note('left'), leaderGone: note('leader gone'), gone: note('gone') })
  tree.orphan()
  machine.snapshot = takeSnapshot
  deliver()
  const waited = tree.waitForExit()
  await machine.clock.advance(5_000)
  expect([events, tree.remaining]).toEqual([[], [LEADER.pid]])
  machine.remove(LEADER.pid)
  await machine.clock.advance(5_000)
  expect([await waited, events]).toEqual([true, ['leader gone', 'gone']])
})
