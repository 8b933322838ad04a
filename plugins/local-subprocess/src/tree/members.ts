import type { ProcessIndex } from './process-index.ts'
import type { ProcessEntry } from './process-table.ts'

/** What is known of a tree. Its leader's pid is the number of its group and of its session. */
export interface TreeFacts {
  readonly leader: number
  /** Undefined where its exit is told before its pid can be anybody else's. */
  readonly leaderStart: number | undefined
  /** In the table's unit; undefined while the leader is not reaped. */
  readonly leaderExitedAt: number | undefined
  /** The group was seen empty after the leader's exit: its number can belong to anybody by now. */
  readonly groupGone: boolean
  readonly cookie: string
  /** Members seen before, by pid. */
  readonly known: ReadonlyMap<number, ProcessEntry>
}

export interface Census {
  /** Alive, by pid; the leader included. */
  readonly members: ReadonlyMap<number, ProcessEntry>
  /** Somebody, dead or alive, member or not, is in the group of that number. */
  readonly groupSeen: boolean
}

/** A process's start is rounded down to the table's unit, and so is the exit it is compared with. */
const ROUNDING = 1

/** Who belongs to a tree. Pure. */
export function takeCensus(index: ProcessIndex, facts: TreeFacts): Census {
  const members = new Map<number, ProcessEntry>()
  const add = (entry: ProcessEntry): void => {
    if (members.has(entry.pid) || index.isOut(entry)) return
    if (entry.pid === facts.leader && !isLeader(entry, facts)) return
    members.set(entry.pid, entry)
    for (const child of index.byParent.get(entry.pid) ?? []) {
      // Windows keeps the number of a parent that ended, and gives it to others: those are younger than the child.
      if (child.start >= entry.start) add(child)
    }
  }
  const leader = index.entries.get(facts.leader)
  if (leader !== undefined) add(leader)
  for (const seen of facts.known.values()) {
    const entry = index.entries.get(seen.pid)
    if (entry?.start === seen.start) add(entry)
  }
  for (const entry of index.byCookie.get(facts.cookie) ?? []) add(entry)
  const inGroup = index.byGroup.get(facts.leader) ?? []
  if (!facts.groupGone) {
    for (const entry of [...inGroup, ...(index.bySession.get(facts.leader) ?? [])]) if (isCredible(entry, index, facts)) add(entry)
  }
  return { members, groupSeen: inGroup.length > 0 }
}

/** The pid of an unreaped leader cannot be anybody else's. Afterwards it is either a stale sight of the leader, or a stranger. */
function isLeader({ start }: ProcessEntry, { leaderStart, leaderExitedAt }: TreeFacts): boolean {
  return leaderExitedAt === undefined && (leaderStart === undefined || leaderStart === start)
}

/**
 * Without a cookie, group and session are evidence for what was there before the leader's exit. What is younger could be in a group
 * that got the same number after this one had died out unseen. Another's cookie is evidence against it.
 */
function isCredible(entry: ProcessEntry, index: ProcessIndex, { cookie, leaderExitedAt }: TreeFacts): boolean {
  const own = index.cookie(entry)
  if (own !== undefined) return own === cookie
  return leaderExitedAt === undefined || entry.start <= leaderExitedAt + ROUNDING
}
