import type { Clock } from '../src/clock.ts'

/** Time that passes only when a test says so. */
export class FakeClock implements Clock {
  #now = 1_000
  /** What the wall clock is ahead of the monotonic one: a test lets it jump. */
  aheadMs = 1_700_000_000_000
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>()

  now(): number {
    return this.#now
  }

  epoch(): number {
    return this.#now + this.aheadMs
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call }
    this.#timers.add(timer)
    return () => {
      this.#timers.delete(timer)
    }
  }

  get timers(): number {
    return this.#timers.size
  }

  /** What is due is called in order of its time, and each finds the clock there. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (due === undefined) break
      this.#timers.delete(due)
      this.#now = due.at
      due.call()
    }
    this.#now = end
  }
}
