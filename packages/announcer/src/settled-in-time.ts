import type { Reconciling } from '@tenon/kernel'

/** True: no row is in transition. False: the time is over, or the signal aborted. */
export async function settledInTime(reconciling: Reconciling, signal: AbortSignal, ms: number): Promise<boolean> {
  const wait = new AbortController()
  const stop = (): void => wait.abort()
  const timer = setTimeout(stop, ms)
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (signal.aborted) return false
    await reconciling.settled(wait.signal)
    return true
  } catch (error) {
    if (wait.signal.aborted) return false
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
