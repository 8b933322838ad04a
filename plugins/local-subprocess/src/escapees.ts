import type { Clock } from './clock.ts'
import type { LiveTrees } from './tree/live-trees.ts'
import type { SendSignal } from './tree/posix-tree.ts'
import type { ProcessIndex } from './tree/process-index.ts'
import type { ProcessEntry, ProcessTable } from './tree/process-table.ts'
import type { Watch } from './tree/watch.ts'

/** How long an escapee has between TERM and KILL: the grace of its spawn is not known any more. */
const GRACE_MS = 2_000

export interface EscapeeParts {
  /** Begins the cookie of every process of the runtime. */
  readonly nonce: string
  readonly trees: LiveTrees
  readonly watch: Watch
  readonly clock: Clock
  readonly table: ProcessTable
  readonly send: SendSignal
}

/** Processes with a cookie of this runtime whose tree is not live: they left group and session, and their leader is long gone. */
function escapeesIn(index: ProcessIndex, { nonce, trees }: EscapeeParts): ProcessEntry[] {
  const owned = trees.cookies
  return [...index.byCookie]
    .filter(([cookie]) => cookie.startsWith(`${nonce}.`) && !owned.has(cookie))
    .flatMap(([, entries]) => entries.filter((entry) => !index.isOut(entry)))
}

/** TERM, grace, KILL, wait, as for a tree. Resolves with the pids of what could not be ended. */
export async function endEscapees(parts: EscapeeParts, killWaitMs: number): Promise<number[]> {
  const { watch, clock } = parts
  const started = clock.now()
  const told = new Set<number>()
  for (let waitMs = 15; ; waitMs = Math.min(waitMs * 2, 250)) {
    const { index } = await watch.look()
    // An unreadable table names nobody.
    const found = index === undefined ? [] : escapeesIn(index, parts)
    const elapsed = clock.now() - started
    if (found.length === 0 || elapsed > GRACE_MS + killWaitMs) return found.map(({ pid }) => pid)
    for (const entry of found) {
      if (elapsed >= GRACE_MS) send(parts, entry, ['SIGKILL'])
      else if (!told.has(entry.pid)) send(parts, entry, ['SIGTERM', 'SIGCONT'])
      told.add(entry.pid)
    }
    await new Promise<void>((resolve) => clock.after(waitMs, resolve))
  }
}

/** For the end of the host. */
export function killEscapees(parts: EscapeeParts, index: ProcessIndex): void {
  for (const entry of escapeesIn(index, parts)) send(parts, entry, ['SIGKILL'])
}

function send(parts: EscapeeParts, entry: ProcessEntry, signals: readonly NodeJS.Signals[]): void {
  try {
    if (parts.table.confirm(entry)) for (const signal of signals) parts.send(entry.pid, signal)
  } catch {
    // ESRCH: it ended by itself. EPERM: the report will name it.
  }
}
