import type { Runtime } from '../runtime.ts'
import type { Leader } from './owned-tree.ts'
import { PosixTree } from './posix-tree.ts'
import type { ProcessTree, TreeEvents } from './process-tree.ts'
import { WindowsTree } from './windows-tree.ts'

export function makeTree(leader: Leader, { world, watch, aborts }: Runtime, events: TreeEvents): ProcessTree {
  const { table, clock, send, run, runSync } = world
  const parts = { table, clock, watch, aborts }
  return world.platform === 'win32' ? new WindowsTree(leader, { ...parts, run, runSync }, events) : new PosixTree(leader, { ...parts, send }, events)
}
