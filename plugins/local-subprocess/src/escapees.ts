import { SubprocessError } from '@tenon/subprocess'
import type { Runtime } from './runtime.ts'
import type { ProcessIndex } from './tree/process-index.ts'
import type { ProcessEntry } from './tree/process-table.ts'

/** How long an escapee has between TERM and KILL: the grace of its spawn is not known any more. */
const GRACE_MS = 2_000

/** Processes with a cookie of this runtime whose tree is not live: they left group and session, and their leader is long gone. */
function escapeesIn(index: ProcessIndex, runtime: Runtime): ProcessEntry[] {
  const owned = new Set([...runtime.live].map(({ cookie }) => cookie))
  return [...index.byCookie]
    .filter(([cookie]) => cookie.startsWith(`${runtime.nonce}.`) && !owned.has(cookie))
    .flatMap(([, entries]) => entries.filter((entry) => !index.isOut(entry)))
}

/** TERM, grace, KILL, wait, as for a tree. Resolves with what could not be ended. */
export async function endEscapees(runtime: Runtime): Promise<Error | undefined> {
  const { watch, world, settings } = runtime
  const started = world.clock.now()
  const told = new Set<number>()
  for (let waitMs = 15; ; waitMs = Math.min(waitMs * 2, 250)) {
    const { index } = await watch.look()
    // An unreadable table names nobody.
    const found = index === undefined ? [] : escapeesIn(index, runtime)
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
    await new Promise<void>((resolve) => world.clock.after(waitMs, resolve))
  }
}

/** For the end of the host. */
export function killEscapees(runtime: Runtime, index: ProcessIndex): void {
  for (const entry of escapeesIn(index, runtime)) send(runtime, entry, ['SIGKILL'])
}

function send(runtime: Runtime, entry: ProcessEntry, signals: readonly NodeJS.Signals[]): void {
  try {
    if (runtime.world.table.confirm(entry)) for (const signal of signals) runtime.world.send(entry.pid, signal)
  } catch {
    // ESRCH: it ended by itself. EPERM: the report will name it.
  }
}
