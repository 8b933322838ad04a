import type { Clock, Timer } from '../clock.ts'
import { ProcessIndex } from './process-index.ts'
import type { ProcessTable } from './process-table.ts'

const FIRST_STEP_MS = 15
const LAST_STEP_MS = 1_000

/** One look at the process table. */
export interface Look {
  /** By the clock; what happened later may be missing. */
  readonly begunAtMs: number
  /** Undefined when the table could not be read. */
  readonly index: ProcessIndex | undefined
}

export interface Watcher {
  /** Whether somebody waits who has nothing else to keep the host alive. */
  readonly holdsHost: boolean
  observe(look: Look): void
}

/**
 * Looks at the process table for all who wait, together: at once, then after 15 ms, 30 ms … 1 s. While nobody waits there is neither
 * a timer nor a look. Two looks never begin within 15 ms.
 */
export class Watch {
  readonly #table: ProcessTable
  readonly #clock: Clock
  readonly #host: number
  readonly #watchers = new Set<Watcher>()
  #requests: ((look: Look) => void)[] = []
  #step = FIRST_STEP_MS
  #timer: Timer | undefined
  #dueAt = Number.POSITIVE_INFINITY
  #lookedAt = Number.NEGATIVE_INFINITY
  #looking = false

  constructor(table: ProcessTable, clock: Clock, host: number) {
    this.#table = table
    this.#clock = clock
    this.#host = host
  }

  /** A look that began after the call. */
  look(): Promise<Look> {
    return new Promise((resolve) => {
      this.#requests.push(resolve)
      this.#schedule(0)
    })
  }

  /** Each look is shown to the watcher until it is removed. */
  add(watcher: Watcher): void {
    if (this.#watchers.has(watcher)) {
      this.update()
      return
    }
    this.#watchers.add(watcher)
    this.hasten()
  }

  /** Something has changed: the back-off starts again. */
  hasten(): void {
    this.#step = FIRST_STEP_MS
    if (!this.#isIdle()) this.#schedule(0)
  }

  /** A watcher changed what it says of the host. */
  update(): void {
    this.#timer?.hold(this.#holdsHost())
  }

  remove(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher)) return
    if (this.#isIdle()) this.#cancel()
    else this.update()
  }

  #schedule(delayMs: number): void {
    if (this.#looking) return
    const now = this.#clock.now()
    const dueAt = Math.max(now + delayMs, this.#lookedAt + FIRST_STEP_MS)
    if (this.#timer !== undefined && this.#dueAt <= dueAt) {
      this.update()
      return
    }
    this.#cancel()
    this.#dueAt = dueAt
    // Rounded up: a timer that fires early would break the promise about two looks.
    this.#timer = this.#clock.after(Math.ceil(dueAt - now), () => void this.#look())
    this.update()
  }

  async #look(): Promise<void> {
    this.#cancel()
    this.#looking = true
    this.#lookedAt = this.#clock.now()
    const requests = this.#requests
    this.#requests = []
    const snapshot = await this.#table.snapshot()
    const look = { begunAtMs: this.#lookedAt, index: snapshot && new ProcessIndex(snapshot, this.#host) }
    this.#looking = false
    for (const resolve of requests) resolve(look)
    for (const watcher of [...this.#watchers]) if (this.#watchers.has(watcher)) watcher.observe(look)
    if (this.#requests.length > 0) this.#schedule(0)
    else if (!this.#isIdle()) this.#schedule(this.#step)
    this.#step = Math.min(this.#step * 2, LAST_STEP_MS)
  }

  #isIdle(): boolean {
    return this.#watchers.size === 0 && this.#requests.length === 0
  }

  #holdsHost(): boolean {
    if (this.#requests.length > 0) return true
    for (const watcher of this.#watchers) if (watcher.holdsHost) return true
    return false
  }

  #cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#dueAt = Number.POSITIVE_INFINITY
  }
}
