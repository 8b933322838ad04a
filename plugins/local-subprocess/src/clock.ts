/** A timer that exists until it fires or is cancelled. */
export interface Timer {
  cancel(): void
  /** Whether it keeps the host alive. */
  hold(host: boolean): void
}

export interface Clock {
  /** Milliseconds; only differences mean something. */
  now(): number
  after(delayMs: number, call: () => void): Timer
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs)
    return {
      cancel: () => clearTimeout(timer),
      hold: (host) => void (host ? timer.ref() : timer.unref()),
    }
  },
}
