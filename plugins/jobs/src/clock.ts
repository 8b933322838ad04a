/** Time as the registry sees it. */
export interface Clock {
  /** Epoch milliseconds: may jump. */
  epoch(): number
  /** Monotonic milliseconds: only differences mean something. */
  now(): number
  /** Calls once, `ms` (0 to 2^31 - 1) from now. @returns what cancels it */
  after(ms: number, call: () => void): () => void
}

export const systemClock: Clock = {
  epoch: () => Date.now(),
  now: () => performance.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}
