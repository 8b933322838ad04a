/**
 * One listener per abort signal, however many trees and readers follow it. Node warns at the eleventh listener of one signal, and a
 * session hands the same signal to every command it runs.
 */
export class AbortHub {
  readonly #followers = new WeakMap<AbortSignal, { readonly calls: Set<() => void>; readonly listener: () => void }>()

  /** Calls `call` once when the signal aborts; not at all if it has aborted already. The result forgets it. */
  on(signal: AbortSignal, call: () => void): () => void {
    let entry = this.#followers.get(signal)
    if (entry === undefined) {
      const calls = new Set<() => void>()
      const listener = (): void => {
        this.#followers.delete(signal)
        for (const each of calls) each()
      }
      entry = { calls, listener }
      this.#followers.set(signal, entry)
      signal.addEventListener('abort', listener, { once: true })
    }
    const { calls, listener } = entry
    // A follower of its own, so that the same function may be given twice.
    const follower = (): void => call()
    calls.add(follower)
    return () => {
      if (!calls.delete(follower) || calls.size > 0) return
      signal.removeEventListener('abort', listener)
      this.#followers.delete(signal)
    }
  }
}
