import type { RunProgram, RunProgramSync } from '../channel/fifo-stock.ts'
import type { Leader, TreeParts } from './owned-tree.ts'
import { PosixTree, type SendSignal } from './posix-tree.ts'
import type { ProcessIndex } from './process-index.ts'
import type { ProcessTree, TreeEvents } from './process-tree.ts'
import { WindowsTree } from './windows-tree.ts'

/** Older trees that each settlement asks again, so that the live set shrinks without a timer. */
const REPROBES = 3

/** What trees of this platform are made of. */
export interface PlatformParts extends TreeParts {
  readonly platform: NodeJS.Platform
  readonly send: SendSignal
  /** Runs a program of the system; rejects unless it ends with 0. */
  readonly run: RunProgram
  readonly runSync: RunProgramSync
}

export interface NamedLeader extends Leader {
  /** For the report of what would not end. */
  readonly program: string
}

/** A tree, and what is needed to speak of it. */
export interface Tracked {
  readonly tree: ProcessTree
  readonly leader: NamedLeader
}

/** A tree that was still there when it was no longer waited for. */
export interface Survived {
  readonly program: string
  readonly pids: readonly number[]
  readonly waitedMs: number
}

/** All trees that may have members. */
export class LiveTrees {
  readonly #parts: PlatformParts
  readonly #live = new Set<Tracked>()
  #exited: Tracked[] = []
  #probing = false

  constructor(parts: PlatformParts) {
    this.#parts = parts
  }

  get size(): number {
    return this.#live.size
  }

  get cookies(): ReadonlySet<string> {
    return new Set([...this.#live].map(({ leader }) => leader.cookie))
  }

  /** Until its absence was observed. */
  own(leader: NamedLeader, events: TreeEvents): Tracked {
    const left = (): void => {
      this.#live.delete(tracked)
      events.left()
    }
    const gone = (): void => {
      this.#live.delete(tracked)
      events.gone()
    }
    const told: TreeEvents = { left, gone, leaderGone: () => events.leaderGone() }
    const tree = this.#parts.platform === 'win32' ? new WindowsTree(leader, this.#parts, told) : new PosixTree(leader, this.#parts, told)
    const tracked: Tracked = { tree, leader }
    this.#live.add(tracked)
    return tracked
  }

  /** The leader has exited: asks after the tree once that has been told, and after a few that are older. */
  settled(tracked: Tracked): void {
    this.#exited.push(tracked)
    if (this.#probing) return
    this.#probing = true
    setImmediate(() => {
      this.#probing = false
      const exited = this.#exited
      this.#exited = []
      let left = REPROBES * exited.length
      for (const older of this.#live) {
        if (left-- <= 0) break
        // To the end of the line.
        this.#live.delete(older)
        this.#live.add(older)
        older.tree.probe()
      }
      for (const each of exited) each.tree.probe()
    })
  }

  /** Ends everything and waits until it is gone, `killWaitMs` after the forced signal at most. */
  async end(killWaitMs: number): Promise<Survived[]> {
    const ends = await Promise.all([...this.#live].map((tracked) => this.#end(tracked, killWaitMs)))
    return ends.filter((survived) => survived !== undefined)
  }

  /** Everything at once: the host is ending. */
  killNow(index: ProcessIndex | undefined): void {
    for (const { tree } of this.#live) {
      try {
        tree.killNow(index)
      } catch {
        // One failing target does not stop the pass.
      }
    }
  }

  async #end({ tree, leader: { program, graceMs } }: Tracked, killWaitMs: number): Promise<Survived | undefined> {
    tree.terminate()
    const waitedMs = graceMs + killWaitMs
    const enough = new AbortController()
    const timer = this.#parts.clock.after(Math.min(waitedMs, 2_147_483_647), () => enough.abort())
    const gone = await tree.waitForExit(enough.signal)
    timer.cancel()
    if (gone) return undefined
    const pids = [...tree.remaining]
    tree.abandon()
    return { program, pids, waitedMs }
  }
}
