import type { RunProgram, RunProgramSync } from '../channel/fifo-stock.ts'
import { type Leader, OwnedTree, type TreeParts } from './owned-tree.ts'
import type { ProcessIndex } from './process-index.ts'
import type { TreeEvents } from './process-tree.ts'

/**
 * A tree on Windows: no groups, no polite signal. `taskkill /T` ends a process and what descends from it while the parents live;
 * processes whose parents had ended are known from earlier looks, or lost.
 */
export class WindowsTree extends OwnedTree {
  readonly #run: RunProgram
  readonly #runSync: RunProgramSync
  #terminated = false
  /** Where a `taskkill` is under way: a second one for the same process would only fail. */
  readonly #killing = new Set<number>()

  constructor(leader: Leader, parts: TreeParts & { readonly run: RunProgram; readonly runSync: RunProgramSync }, events: TreeEvents) {
    super(leader, parts, events)
    this.#run = parts.run
    this.#runSync = parts.runSync
    this.groupGone = true
  }

  protected override get ending(): boolean {
    return this.#terminated
  }

  protected override get insisting(): boolean {
    return this.#terminated
  }

  /** There is no cheap question to ask. A tree of which no look has seen more than its leader counts as ended with it. */
  override probe(): void {
    if (this.gone || !this.leaderExited || this.#terminated) return
    if (this.remaining.every((pid) => pid === this.leader.pid)) this.leave()
  }

  override terminate(): void {
    if (this.gone || this.#terminated) return
    this.#terminated = true
    if (!this.leaderExited) this.#kill(this.leader.pid)
    this.updateWatch()
    this.parts.watch.hasten()
  }

  override killNow(index: ProcessIndex | undefined): void {
    if (this.gone) return
    if (index !== undefined) this.known = this.census(index).members
    for (const pid of this.remaining) this.#runSync('taskkill', taskkill(pid))
  }

  protected override isAbsent(): boolean {
    return true
  }

  protected override looked(): void {
    if (this.#terminated) for (const pid of this.remaining) this.#kill(pid)
  }

  protected override ended(): void {
    this.#killing.clear()
  }

  #kill(pid: number): void {
    if (this.#killing.has(pid)) return
    this.#killing.add(pid)
    // It fails when the process ended by itself, and when it is missing: the next look tells which.
    void this.#run('taskkill', taskkill(pid))
      .catch(() => undefined)
      .finally(() => this.#killing.delete(pid))
  }
}

function taskkill(pid: number): readonly string[] {
  return ['/PID', String(pid), '/T', '/F']
}
