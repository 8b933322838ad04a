import type { AbortHub } from '@tenon/abort-hub'

export type Cause = 'deadline' | 'abort' | 'kill'

/**
 * Deadline, caller's abort and `kill()` compete for one execution; the first recorded is the cause and nothing changes it. It owns the
 * timer and the abort listener, and both are gone the moment they can no longer matter.
 */
export class FirstCause {
  #recorded: Cause | undefined
  #open = true
  #timer: NodeJS.Timeout | undefined
  #unlisten: (() => void) | undefined
  #onRecorded: ((cause: Cause) => void) | undefined

  /** There is no deadline before `arm`. */
  constructor(signal: AbortSignal | undefined, aborts: AbortHub) {
    if (signal !== undefined) this.#unlisten = aborts.on(signal, () => this.record('abort'))
  }

  get recorded(): Cause | undefined {
    return this.#recorded
  }

  /** Called once, with the first cause. Replaces an earlier listener. */
  onRecorded(listener: (cause: Cause) => void): void {
    this.#onRecorded = listener
  }

  /** False, without any effect, after `close`; true if this or an earlier cause stands. */
  record(cause: Cause): boolean {
    if (!this.#open) return false
    if (this.#recorded === undefined) {
      this.#recorded = cause
      this.#disarm()
      this.#onRecorded?.(cause)
    }
    return true
  }

  /** The deadline is `ms` from now, unless there is one already. It may be over, on a loop that has turned no timer since. */
  arm(ms: number): void {
    if (ms <= 0) this.record('deadline')
    else if (this.#timer === undefined && this.#recorded === undefined) this.#timer = setTimeout(() => this.record('deadline'), ms)
  }

  /** There is no deadline from here on. */
  dropDeadline(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** The end was observed: no cause is recorded any more. */
  close(): void {
    this.#open = false
    this.#disarm()
  }

  #disarm(): void {
    this.dropDeadline()
    this.#unlisten?.()
    this.#unlisten = undefined
  }
}
