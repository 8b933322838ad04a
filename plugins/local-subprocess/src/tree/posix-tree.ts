import type { AbortHub } from '../abort-hub.ts'
import type { Clock, Timer } from '../clock.ts'
import { type Census, takeCensus } from './members.ts'
import type { ProcessEntry, ProcessTable, Snapshot } from './process-table.ts'
import type { ProcessTree, TreeEvents } from './process-tree.ts'
import type { Look, Watch, Watcher } from './watch.ts'

/** Sends a signal as kill(2) does: a negative pid is a group, 0 only probes. Throws ESRCH and EPERM. */
export type SendSignal = (pid: number, signal: NodeJS.Signals | 0) => void

export interface PosixParts {
  readonly table: ProcessTable
  readonly send: SendSignal
  readonly clock: Clock
  readonly watch: Watch
  readonly aborts: AbortHub
  /** The host's pid. */
  readonly host: number
}

export interface Leader {
  readonly pid: number
  readonly cookie: string
  readonly graceMs: number
}

type Phase = 'untouched' | 'polite' | 'forced'

/** A tree on a system with process groups, sessions and signals. */
export class PosixTree implements ProcessTree, Watcher {
  readonly #leader: Leader
  readonly #parts: PosixParts
  readonly #events: TreeEvents
  /** In the table's unit, and by the clock. */
  #leaderExitedAt: number | undefined
  #leaderExitedAtMs = 0
  #groupGone = false
  #gone = false
  #phase: Phase = 'untouched'
  #escalation: Timer | undefined
  #known: ReadonlyMap<number, ProcessEntry> = new Map()
  readonly #waiters = new Set<(gone: boolean) => void>()
  #followers = 0

  constructor(leader: Leader, parts: PosixParts, events: TreeEvents) {
    this.#leader = leader
    this.#parts = parts
    this.#events = events
  }

  get gone(): boolean {
    return this.#gone
  }

  get remaining(): readonly number[] {
    const known = [...this.#known.keys()]
    return this.#leaderExitedAt === undefined && !known.includes(this.#leader.pid) ? [this.#leader.pid, ...known] : known
  }

  get holdsHost(): boolean {
    return this.#waiters.size > 0 || this.#phase !== 'untouched'
  }

  leaderExited(): void {
    this.#leaderExitedAt = this.#parts.table.now()
    this.#leaderExitedAtMs = this.#parts.clock.now()
    this.#updateWatch()
  }

  probe(): void {
    if (this.#gone || this.#leaderExitedAt === undefined || this.#phase !== 'untouched') return
    if (this.#groupIsThere()) return
    this.#groupGone = true
    // What left the group as well is found by its cookie when somebody asks, and at close.
    this.#events.left()
  }

  terminate(): void {
    if (this.#gone || this.#phase !== 'untouched') return
    this.#phase = 'polite'
    const groupSignalled = this.#signalGroup(['SIGTERM', 'SIGCONT'])
    this.#escalation = this.#parts.clock.after(this.#leader.graceMs, () => this.#force())
    this.#updateWatch()
    void this.#parts.watch.look().then((look) => this.#signalRest(look, groupSignalled))
  }

  async waitForExit(signal?: AbortSignal): Promise<boolean> {
    if (this.#gone) return true
    if (signal?.aborted === true) return false
    let forget = (): void => undefined
    const observed = new Promise<boolean>((resolve) => {
      this.#waiters.add(resolve)
      if (signal === undefined) return
      forget = this.#parts.aborts.on(signal, () => {
        this.#waiters.delete(resolve)
        this.#updateWatch()
        resolve(false)
      })
    })
    this.#updateWatch()
    try {
      return await observed
    } finally {
      forget()
    }
  }

  async survivors(): Promise<number> {
    if (this.#gone) return 0
    // An unreadable table counts as alive: what was known last is the best there is.
    this.#take(await this.#parts.watch.look())
    if (this.#gone) return 0
    return this.remaining.filter((pid) => pid !== this.#leader.pid).length
  }

  follow(wanted: boolean): void {
    this.#followers += wanted ? 1 : -1
    this.#updateWatch()
  }

  observe(look: Look): void {
    this.#take(look)
    if (this.#phase === 'forced' && !this.#gone) this.#killAll()
  }

  killNow(snapshot: Snapshot | undefined): void {
    if (this.#gone) return
    if (snapshot !== undefined) this.#known = byPid(this.#census(snapshot).members)
    this.#killAll()
  }

  /** TERM for those the group's signal did not reach, then CONT: a stopped process must see it. */
  #signalRest(look: Look, groupSignalled: boolean): void {
    this.#take(look)
    if (this.#gone || this.#phase !== 'polite') return
    const reached = groupSignalled || this.#signalGroup(['SIGTERM', 'SIGCONT'])
    for (const entry of this.#known.values()) {
      if (!(reached && entry.group === this.#leader.pid)) this.#signalOne(entry, ['SIGTERM', 'SIGCONT'])
    }
  }

  #force(): void {
    this.#phase = 'forced'
    this.#escalation = undefined
    this.#signalGroup(['SIGKILL'])
    this.#updateWatch()
  }

  #killAll(): void {
    const reached = this.#signalGroup(['SIGKILL'])
    for (const entry of this.#known.values()) {
      if (!(reached && entry.group === this.#leader.pid)) this.#signalOne(entry, ['SIGKILL'])
    }
  }

  #take({ snapshot, begunAtMs }: Look): void {
    if (this.#gone || snapshot === undefined) return
    const { members, groupSeen } = this.#census(snapshot)
    this.#known = byPid(members)
    if (members.length > 0 || this.#leaderExitedAt === undefined || begunAtMs < this.#leaderExitedAtMs) return
    // A process of the group could have forked and ended between two lines of the snapshot. If the group is there and nobody was seen
    // in it, that has happened; if only dead or foreign ones were seen, they are what the probe finds.
    if (!this.#groupGone && !groupSeen && this.#groupIsThere()) return
    this.#leave()
  }

  #census(snapshot: Snapshot): Census {
    const facts = {
      leader: this.#leader.pid,
      leaderExitedAt: this.#leaderExitedAt,
      groupGone: this.#groupGone,
      cookie: this.#leader.cookie,
      known: new Map([...this.#known].map(([pid, entry]) => [pid, entry.start])),
    }
    return takeCensus(snapshot, facts, this.#parts.host)
  }

  #leave(): void {
    this.#gone = true
    this.#escalation?.cancel()
    this.#escalation = undefined
    this.#parts.watch.remove(this)
    for (const resolve of this.#waiters) resolve(true)
    this.#waiters.clear()
    this.#events.gone()
  }

  /** While the leader lives nobody needs to look: its exit will be told. After KILL everybody is looked after until they are gone. */
  #updateWatch(): void {
    if (this.#gone) return
    const wanted = this.holdsHost || this.#followers > 0
    if ((wanted && this.#leaderExitedAt !== undefined) || this.#phase === 'forced') this.#parts.watch.add(this)
    else this.#parts.watch.remove(this)
  }

  /** Only while the number is certain to be the tree's own: the leader is not reaped, or a member in it was confirmed right now. */
  #signalGroup(signals: readonly NodeJS.Signals[]): boolean {
    if (this.#groupGone) return false
    if (this.#leaderExitedAt !== undefined && !this.#confirmedInGroup()) return false
    for (const signal of signals) this.#send(-this.#leader.pid, signal)
    return true
  }

  #confirmedInGroup(): boolean {
    for (const entry of this.#known.values()) {
      if (entry.group === this.#leader.pid && this.#parts.table.confirm(entry)) return true
    }
    return false
  }

  #signalOne(entry: ProcessEntry, signals: readonly NodeJS.Signals[]): void {
    if (!this.#parts.table.confirm(entry)) return
    for (const signal of signals) this.#send(entry.pid, signal)
  }

  #groupIsThere(): boolean {
    return this.#send(-this.#leader.pid, 0) !== 'gone'
  }

  /** ESRCH and EPERM are answers, not faults. */
  #send(pid: number, signal: NodeJS.Signals | 0): 'sent' | 'gone' | 'refused' {
    try {
      this.#parts.send(pid, signal)
      return 'sent'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused'
    }
  }
}

function byPid(entries: readonly ProcessEntry[]): Map<number, ProcessEntry> {
  return new Map(entries.map((entry) => [entry.pid, entry]))
}
