/**
 * One listener per signal, however many executions wait on it: a session's signal outlives thousands of commands and can carry
 * hundreds at once, and Node warns of a leak from the eleventh listener on.
 */
export class AbortListeners {
  readonly #relays = new WeakMap<AbortSignal, Relay>()

  /** Calls `listener` once when the signal aborts, unless the returned function was called before. */
  add(signal: AbortSignal, listener: () => void): () => void {
    const relay = this.#relays.get(signal) ?? this.#listen(signal)
    const own = (): void => listener()
    relay.waiting.add(own)
    return () => {
      if (!relay.waiting.delete(own) || relay.waiting.size > 0) return
      signal.removeEventListener('abort', relay.fire)
      this.#relays.delete(signal)
    }
  }

  #listen(signal: AbortSignal): Relay {
    const waiting = new Set<() => void>()
    const fire = (): void => {
      for (const listener of [...waiting]) if (waiting.has(listener)) listener()
      waiting.clear()
    }
    signal.addEventListener('abort', fire, { once: true })
    const relay = { waiting, fire }
    this.#relays.set(signal, relay)
    return relay
  }
}

interface Relay {
  readonly waiting: Set<() => void>
  readonly fire: () => void
}
