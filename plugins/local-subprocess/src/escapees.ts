import { SubprocessError } from '@tenon/subprocess'
import type { Runtime } from './runtime.ts'
import { exemptions } from './tree/members.ts'
import type { ProcessEntry, Snapshot } from './tree/process-table.ts'

/** How long an escapee has between TERM and KILL: the grace of its spawn is not known any more. */
const GRACE_MS = 2_000

/** Processes with a cookie of this runtime whose tree is not live: they left group and session, and their leader is long gone. */
function escapeesIn(snapshot: Snapshot, runtime: Runtime): ProcessEntry[] {
  const owned = new Set([...runtime.live].map(({ cookie }) => cookie))
  const exempt = exemptions(snapshot, runtime.world.host)
  return [...snapshot.entries.values()].filter((entry) => {
    const cookie = snapshot.cookie(entry)
    return cookie?.startsWith(`${runtime.nonce}.`) === true && !owned.has(cookie) && !entry.zombie && !exempt(entry)
  })
}

/** TERM, grace, KILL, wait, as for a tree. Resolves with what could not be ended. */
export async function endEscapees(runtime: Runtime): Promise<Error | undefined> {
  const { watch, world, settings } = runtime
  const started = world.clock.now()
  const told = new Set<number>()
  for (;;) {
    const { snapshot } = await watch.look()
    // An unreadable table names nobody.
    const found = snapshot === undefined ? [] : escapeesIn(snapshot, runtime)
    if (found.length === 0) return undefined
    const elapsed = world.clock.now() - started
    if (elapsed > GRACE_MS + settings.killWaitMs) {
      const pids = found.map(({ pid }) => pid)
      return new SubprocessError('TREE_SURVIVED', `processes that left their tree are still alive: pid ${pids.join(', ')}`, { details: { pids } })
    }
    for (const entry of found) {
      if (elapsed >= GRACE_MS) send(runtime, entry, ['SIGKILL'])
      else if (!told.has(entry.pid)) send(runtime, entry, ['SIGTERM', 'SIGCONT'])
      told.add(entry.pid)
    }
  }
}

/** For the end of the host. */
export function killEscapees(runtime: Runtime, snapshot: Snapshot): void {
  for (const entry of escapeesIn(snapshot, runtime)) send(runtime, entry, ['SIGKILL'])
}

function send(runtime: Runtime, entry: ProcessEntry, signals: readonly NodeJS.Signals[]): void {
  try {
    if (runtime.world.table.confirm(entry)) for (const signal of signals) runtime.world.send(entry.pid, signal)
  } catch {
    // ESRCH: it ended by itself. EPERM: the report will name it.
  }
}
