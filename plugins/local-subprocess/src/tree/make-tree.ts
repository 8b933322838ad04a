import type { Runtime } from '../runtime.ts'
import { type Leader, PosixTree } from './posix-tree.ts'
import type { ProcessTree, TreeEvents } from './process-tree.ts'

export function makeTree(leader: Leader, runtime: Runtime, events: TreeEvents): ProcessTree {
  const { world, watch, aborts } = runtime
  return new PosixTree(leader, { table: world.table, send: world.send, clock: world.clock, watch, aborts, host: world.host }, events)
}
