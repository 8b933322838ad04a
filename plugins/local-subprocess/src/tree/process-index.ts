import type { ProcessEntry, Snapshot } from './process-table.ts'

type Groups<K> = ReadonlyMap<K, readonly ProcessEntry[]>

/** A snapshot by what trees ask for, so that many trees can look at one without each going through all of it. */
export class ProcessIndex {
  readonly entries: ReadonlyMap<number, ProcessEntry>
  /** Dead ones included: they are what a probe of the group finds. */
  readonly byGroup: Groups<number>
  readonly bySession: Groups<number>
  readonly byParent: Groups<number>
  readonly byCookie: Groups<string>
  /** Somebody may be missing in `byCookie` whose program is yet to be executed. */
  readonly unsettled: boolean
  readonly #cookies: Snapshot
  readonly #ancestors = new Set<number>()
  readonly #hostGroup: number | undefined

  constructor(snapshot: Snapshot, host: number) {
    this.entries = snapshot.entries
    this.unsettled = snapshot.unsettled
    this.#cookies = snapshot
    const entries = [...snapshot.entries.values()]
    this.byGroup = groupedBy(entries, ({ group }) => group)
    this.bySession = groupedBy(entries, ({ session }) => session)
    this.byParent = groupedBy(entries, ({ parent }) => parent)
    this.byCookie = groupedBy(entries, (entry) => snapshot.cookie(entry))
    for (let pid = host; pid > 1 && !this.#ancestors.has(pid); pid = this.entries.get(pid)?.parent ?? 0) this.#ancestors.add(pid)
    this.#hostGroup = this.entries.get(host)?.group
  }

  cookie(entry: ProcessEntry): string | undefined {
    return this.#cookies.cookie(entry)
  }

  /** Dead, or one that nobody may end: pid 1, the host, its ancestors, its group. */
  isOut(entry: ProcessEntry): boolean {
    return entry.zombie || entry.pid <= 1 || this.#ancestors.has(entry.pid) || entry.group === this.#hostGroup
  }
}

function groupedBy<K>(entries: readonly ProcessEntry[], keyOf: (entry: ProcessEntry) => K | undefined): Map<K, ProcessEntry[]> {
  const groups = new Map<K, ProcessEntry[]>()
  for (const entry of entries) {
    const key = keyOf(entry)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}
