import type { Reconciling, Scope } from '@tenon/kernel'
import { settledInTime } from './settled-in-time.ts'

/** Announces the changes of one tick together, and those of a reload when it is over. */
export class Announcer {
  readonly #scope: Scope
  readonly #reconciling: Reconciling
  readonly #waitMs: number
  readonly #announce: () => void
  #due = false

  constructor(scope: Scope, reconciling: Reconciling, waitMs: number, announce: () => void) {
    this.#scope = scope
    this.#reconciling = reconciling
    this.#waitMs = waitMs
    this.#announce = announce
  }

  /** Something may have changed. */
  touch(): void {
    if (this.#due) return
    this.#due = true
    setImmediate(() => {
      // A closed activation leaves it to its successor, which touches on its own account.
      if (this.#scope.closed) return
      if (this.#reconciling.pending().length === 0) this.#flush()
      else this.#scope.spawn((signal) => this.#flushLater(signal))
    })
  }

  async #flushLater(signal: AbortSignal): Promise<void> {
    await settledInTime(this.#reconciling, signal, this.#waitMs)
    if (!signal.aborted) this.#flush()
  }

  #flush(): void {
    this.#due = false
    this.#announce()
  }
}
