import type { AbortHub } from '@tenon/abort-hub'
import type { Clock } from '../clock.ts'
import { type Census, type TreeFacts, takeCensus } from './members.ts'
import type { ProcessIndex } from './process-index.ts'
import type { ProcessEntry, ProcessTable } from './process-table.ts'
import type { ProcessTree, TreeEvents } from './process-tree.ts'
import type { Look, Watch, Watcher } from './watch.ts'

export interface TreeParts {
  readonly table: ProcessTable
  readonly clock: Clock
  readonly watch: Watch
  readonly aborts: Pick<AbortHub, 'on'>
}

export interface Leader {
  readonly pid: number
  /** In the table's unit; undefined where the host is the parent, and so hears of the exit before the pid can be anybody else's. */
  readonly start?: number
  readonly cookie: string
  readonly graceMs: number
}

const NOBODY: ReadonlyMap<number, ProcessEntry> = new Map()

/** What every platform has in common: who belongs to the tree, who waits for it, and when its absence counts as observed. */
export abstract class OwnedTree implements ProcessTree, Watcher {
  protected readonly leader: Leader
  protected readonly parts: TreeParts
  /** Members found last, by pid. */
  protected known: ReadonlyMap<number, ProcessEntry> = NOBODY
  protected groupGone = false
  readonly #events: TreeEvents
  /** By the clock; undefined while the leader is not reaped. */
  #leaderExitedAtMs: number | undefined
  /** The same in the table's unit. To ask the table takes a while, and of most trees nobody needs it: there is nothing left to tell apart. */
  #leaderExitedAt: number | undefined
  #gone = false
  #abandoned = false
  /** By the clock; undefined while somebody is there to tell of the leader's exit. */
  #orphanedAtMs: number | undefined
  readonly #waiters = new Set<(gone: boolean) => void>()
  #followers = 0

  constructor(leader: Leader, parts: TreeParts, events: TreeEvents) {
    this.leader = leader
    this.parts = parts
    this.#events = events
  }

  abstract probe(): void
  abstract terminate(): void
  abstract killNow(index: ProcessIndex | undefined): void
  /** `terminate` was called. */
  protected abstract readonly ending: boolean
  /** Members are looked after although the leader lives, and nobody waits. */
  protected abstract readonly insisting: boolean
  /** The census found nobody: is that so? */
  protected abstract isAbsent(census: Census): boolean
  /** After each look, while the tree is there. */
  protected abstract looked(): void
  /** Absence was observed, or nobody looks any more. */
  protected abstract ended(): void

  get gone(): boolean {
    return this.#gone
  }

  get remaining(): readonly number[] {
    const pids = [...this.known.keys()]
    return this.leaderExited || this.known.has(this.leader.pid) ? pids : [this.leader.pid, ...pids]
  }

  get holdsHost(): boolean {
    return this.#waiters.size > 0 || this.ending || this.#isLookedFor
  }

  protected get leaderExited(): boolean {
    return this.#leaderExitedAtMs !== undefined
  }

  /** The pid, and the number of the group, are certain to be the tree's own. */
  protected get leaderHoldsNumber(): boolean {
    const { pid, start } = this.leader
    if (this.leaderExited) return false
    return start === undefined ? this.#orphanedAtMs === undefined : this.parts.table.confirm({ pid, start })
  }

  orphan(): void {
    if (this.#gone || this.#abandoned || this.leaderExited) return
    this.#orphanedAtMs ??= this.parts.clock.now()
    this.updateWatch()
    this.parts.watch.hasten()
  }

  leaderEnded(): void {
    if (this.leaderExited) return
    this.#leaderExitedAtMs = this.parts.clock.now()
    this.updateWatch()
    if (this.wanted) this.parts.watch.hasten()
  }

  async waitForExit(signal?: AbortSignal): Promise<boolean> {
    if (this.#gone) return true
    if (this.#abandoned || signal?.aborted === true) return false
    let forget = (): void => undefined
    const observed = new Promise<boolean>((resolve) => {
      this.#waiters.add(resolve)
      if (signal === undefined) return
      forget = this.parts.aborts.on(signal, () => {
        this.#waiters.delete(resolve)
        this.updateWatch()
        resolve(false)
      })
    })
    this.updateWatch()
    if (this.leaderExited) this.parts.watch.hasten()
    try {
      return await observed
    } finally {
      forget()
    }
  }

  async survivors(): Promise<number> {
    if (this.#gone) return 0
    // An unreadable table counts as alive: what was known last is the best there is.
    this.take(await this.parts.watch.look())
    return this.#gone ? 0 : this.remaining.filter((pid) => pid !== this.leader.pid).length
  }

  /** Leaving waits for the next look: a follower that reads and waits in turn must not start the back-off again with every line. */
  follow(wanted: boolean): void {
    this.#followers += wanted ? 1 : -1
    if (wanted) this.updateWatch()
  }

  abandon(): void {
    this.#abandoned = true
    if (!this.#gone) this.#release(false)
  }

  observe(look: Look): void {
    this.take(look)
    if (this.#gone) return
    this.looked()
    this.updateWatch()
  }

  protected take({ index, begunAtMs }: Look): void {
    if (this.#gone || index === undefined) return
    if (this.#isLeaderMissing(index, begunAtMs)) {
      this.leaderEnded()
      this.#events.leaderGone()
    }
    const census = this.census(index)
    this.known = census.members
    const exitedAtMs = this.#leaderExitedAtMs
    if (census.members.size > 0 || exitedAtMs === undefined || begunAtMs < exitedAtMs || !this.isAbsent(census)) return
    this.#gone = true
    this.#release(true)
    this.#events.gone()
  }

  protected census(index: ProcessIndex): Census {
    const { pid, start, cookie } = this.leader
    const facts: TreeFacts = {
      leader: pid,
      leaderStart: start,
      leaderExitedAt: this.leaderExited ? this.exitTime() : undefined,
      groupGone: this.groupGone,
      cookie,
      known: this.known,
    }
    return takeCensus(index, facts)
  }

  /** When the leader exited, in the table's unit. To be asked for while that is just over: what is younger does not belong to the tree. */
  protected exitTime(): number {
    this.#leaderExitedAt ??= this.parts.table.now()
    return this.#leaderExitedAt
  }

  protected get wanted(): boolean {
    return this.holdsHost || this.#followers > 0
  }

  /** While the leader lives nobody needs to look: its exit will be told. */
  protected updateWatch(): void {
    if (this.#gone || this.#abandoned) return
    if ((this.wanted && this.leaderExited) || this.insisting || this.#isLookedFor) this.parts.watch.add(this)
    else this.parts.watch.remove(this)
  }

  get #isLookedFor(): boolean {
    return this.#orphanedAtMs !== undefined && !this.leaderExited
  }

  /** Nothing that a look says which was under way: it may have begun before the leader did. */
  #isLeaderMissing(index: ProcessIndex, begunAtMs: number): boolean {
    if (!this.#isLookedFor || begunAtMs < (this.#orphanedAtMs ?? begunAtMs)) return false
    const { pid, start } = this.leader
    const entry = index.entries.get(pid)
    return entry === undefined || entry.zombie || (start !== undefined && entry.start !== start)
  }

  #release(gone: boolean): void {
    this.ended()
    this.parts.watch.remove(this)
    for (const resolve of this.#waiters) resolve(gone)
    this.#waiters.clear()
  }

  protected leave(): void {
    this.#events.left()
  }
}
