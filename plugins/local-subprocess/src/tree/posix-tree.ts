import type { Timer } from '../clock.ts'
import type { Census } from './members.ts'
import { type Leader, OwnedTree, type TreeParts } from './owned-tree.ts'
import type { ProcessIndex } from './process-index.ts'
import type { ProcessEntry } from './process-table.ts'
import type { TreeEvents } from './process-tree.ts'
import type { Look } from './watch.ts'

/** Sends a signal as kill(2) does: a negative pid is a group, 0 only probes. Throws ESRCH and EPERM. */
export type SendSignal = (pid: number, signal: NodeJS.Signals | 0) => void

/** CONT after TERM: a stopped process must see it. */
const POLITE: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGCONT']
const FORCED: readonly NodeJS.Signals[] = ['SIGKILL']

/** A tree on a system with process groups, sessions and signals. */
export class PosixTree extends OwnedTree {
  readonly #send: SendSignal
  #phase: 'untouched' | 'polite' | 'forced' = 'untouched'
  /** Holds the host, outlives the leader, and goes with the observed absence only. */
  #escalation: Timer | undefined

  constructor(leader: Leader, parts: TreeParts & { readonly send: SendSignal }, events: TreeEvents) {
    super(leader, parts, events)
    this.#send = parts.send
  }

  protected override get ending(): boolean {
    return this.#phase !== 'untouched'
  }

  protected override get insisting(): boolean {
    return this.#phase === 'forced'
  }

  override probe(): void {
    if (this.gone || !this.leaderExited) return
    if (this.ending || this.#groupIsThere()) {
      this.exitTime()
      return
    }
    this.groupGone = true
    // What left the group as well is found by its cookie when somebody asks, and at close.
    this.leave()
  }

  override terminate(): void {
    if (this.gone || this.ending) return
    this.#phase = 'polite'
    const groupReached = this.#signalGroup(POLITE)
    this.#escalation = this.parts.clock.after(this.leader.graceMs, () => this.#force())
    this.updateWatch()
    this.parts.watch.hasten()
    void this.parts.watch.look().then((look) => this.#signalRest(look, groupReached))
  }

  override killNow(index: ProcessIndex | undefined): void {
    if (this.gone) return
    if (index !== undefined) this.known = this.census(index).members
    this.#signalAll(FORCED, false)
  }

  /** A process could have forked and ended between two lines of the snapshot: a group that is there and empty says so. */
  protected override isAbsent({ groupSeen }: Census): boolean {
    // If only dead or foreign ones were seen in the group, they are what a probe would find.
    return this.groupGone || groupSeen || !this.#groupIsThere()
  }

  protected override looked(): void {
    if (this.#phase === 'forced') this.#signalAll(FORCED, false)
  }

  protected override ended(): void {
    this.#escalation?.cancel()
    this.#escalation = undefined
  }

  #signalRest(look: Look, groupReached: boolean): void {
    this.take(look)
    if (!this.gone && this.#phase === 'polite') this.#signalAll(POLITE, groupReached)
  }

  #force(): void {
    this.#phase = 'forced'
    this.#signalGroup(FORCED)
    // Captures again, and goes on until nothing is left.
    this.updateWatch()
    this.parts.watch.hasten()
  }

  #signalAll(signals: readonly NodeJS.Signals[], groupReached: boolean): void {
    const reached = groupReached || this.#signalGroup(signals)
    for (const entry of this.known.values()) {
      if (!(reached && entry.group === this.leader.pid)) this.#signalOne(entry, signals)
    }
  }

  /** Only while the number is certain to be the tree's own: the leader is not reaped, or it or a member was confirmed right now. */
  #signalGroup(signals: readonly NodeJS.Signals[]): boolean {
    if (this.groupGone || !(this.leaderHoldsNumber || this.#confirmedInGroup())) return false
    for (const signal of signals) this.#attempt(-this.leader.pid, signal)
    return true
  }

  #confirmedInGroup(): boolean {
    for (const entry of this.known.values()) {
      if (entry.group === this.leader.pid && this.parts.table.confirm(entry)) return true
    }
    return false
  }

  #signalOne(entry: ProcessEntry, signals: readonly NodeJS.Signals[]): void {
    if (!this.parts.table.confirm(entry)) return
    for (const signal of signals) this.#attempt(entry.pid, signal)
  }

  #groupIsThere(): boolean {
    return this.#attempt(-this.leader.pid, 0) !== 'gone'
  }

  /** ESRCH and EPERM are answers, not faults. */
  #attempt(pid: number, signal: NodeJS.Signals | 0): 'sent' | 'gone' | 'refused' {
    try {
      this.#send(pid, signal)
      return 'sent'
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'refused'
    }
  }
}
