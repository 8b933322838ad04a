import type { ProcessEntry, Snapshot } from './process-table.ts'

/** What is known of a tree. Its leader's pid is the number of its group and of its session. */
export interface TreeFacts {
  readonly leader: number
  /** In the table's unit; undefined while the leader is not reaped. */
  readonly leaderExitedAt: number | undefined
  /** The group was seen empty after the leader's exit: its number can belong to anybody by now. */
  readonly groupGone: boolean
  readonly cookie: string
  /** Members seen before, by pid. */
  readonly known: ReadonlyMap<number, ProcessEntry>
}

export interface Census {
  /** Alive, the leader included, by identity. */
  readonly members: readonly ProcessEntry[]
  /** Somebody, dead or alive, member or not, is in the group of that number. */
  readonly groupSeen: boolean
}

/** A process's start is rounded down to the table's unit, and so is the exit it is compared with. */
const ROUNDING = 1

/** Who belongs to a tree. Pure. The host, its group, its ancestors and pid 1 never do, whatever the evidence. */
export function takeCensus(snapshot: Snapshot, facts: TreeFacts, host: number): Census {
  const exempt = exemptions(snapshot, host)
  const members = new Map<number, ProcessEntry>()
  const candidates: ProcessEntry[] = []
  const byNumber = !facts.groupGone && !isRecycled(snapshot, facts)
  let groupSeen = false
  for (const entry of snapshot.entries.values()) {
    if (entry.group === facts.leader) groupSeen = true
    if (entry.zombie || exempt(entry)) continue
    if (isSeed(entry, snapshot, facts, byNumber)) members.set(entry.pid, entry)
    else candidates.push(entry)
  }
  addDescendants(members, candidates)
  return { members: [...members.values()], groupSeen }
}

export function exemptions(snapshot: Snapshot, host: number): (entry: ProcessEntry) => boolean {
  const ancestors = new Set<number>()
  for (let pid = host; pid > 1 && !ancestors.has(pid); pid = snapshot.entries.get(pid)?.parent ?? 0) ancestors.add(pid)
  const group = snapshot.entries.get(host)?.group
  return (entry) => entry.pid <= 1 || ancestors.has(entry.pid) || entry.group === group
}

function isSeed(entry: ProcessEntry, snapshot: Snapshot, facts: TreeFacts, byNumber: boolean): boolean {
  const { leaderExitedAt } = facts
  if (entry.pid === facts.leader) {
    // The pid of an unreaped leader cannot be anybody else's. Afterwards it is either a stale sight of the leader, or a stranger.
    return leaderExitedAt === undefined
  }
  if (facts.known.get(entry.pid)?.start === entry.start) return true
  const cookie = snapshot.cookie(entry)
  if (cookie !== undefined) return cookie === facts.cookie
  if (!byNumber || (entry.group !== facts.leader && entry.session !== facts.leader)) return false
  // Without a cookie, group and session are evidence for what was there before the leader's exit. What is younger could be in a group
  // that got the same number after this one had died out unseen.
  return leaderExitedAt === undefined || entry.start <= leaderExitedAt + ROUNDING
}

/** The leader's pid is in use by a process that started after the leader had gone: so the number was free, and the group is another. */
function isRecycled(snapshot: Snapshot, facts: TreeFacts): boolean {
  const { leaderExitedAt } = facts
  const namesake = snapshot.entries.get(facts.leader)
  return leaderExitedAt !== undefined && namesake !== undefined && namesake.start > leaderExitedAt + ROUNDING
}

function addDescendants(members: Map<number, ProcessEntry>, candidates: readonly ProcessEntry[]): void {
  const children = new Map<number, ProcessEntry[]>()
  for (const entry of candidates) {
    const siblings = children.get(entry.parent)
    if (siblings === undefined) children.set(entry.parent, [entry])
    else siblings.push(entry)
  }
  const parents = [...members.keys()]
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const child of children.get(parent) ?? []) {
      // Windows keeps the number of a parent that ended, and gives it to others: those are younger than the child.
      if (members.has(child.pid) || child.start < (members.get(parent)?.start ?? 0)) continue
      members.set(child.pid, child)
      parents.push(child.pid)
    }
  }
}
