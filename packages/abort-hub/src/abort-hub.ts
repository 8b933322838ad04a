/**
 * One listener per abort signal, however many follow it: a session hands the same signal to every call it makes, Node warns of the eleventh
 * listener, and `AbortSignal.any` leaves something behind on a source that lives on.
 */
export class AbortHub {
  readonly #sources = new WeakMap<AbortSignal, Source>()

  /**
   * Calls back once, with the reason, when the signal aborts; not at all if it has aborted already. What a follower throws is an uncaught
   * error, as with any listener, and stops no other.
   * @returns takes it back; a follower that is taken back while others are called is not called
   */
  on(signal: AbortSignal, follower: (reason: unknown) => void): () => void {
    const source = this.#sources.get(signal) ?? this.#listen(signal)
    // One of its own, so that the same function may be given twice.
    const own = (reason: unknown): void => follower(reason)
    source.followers.add(own)
    return () => {
      if (!source.followers.delete(own) || source.followers.size > 0) return
      signal.removeEventListener('abort', source.fire)
      this.#sources.delete(signal)
    }
  }

  #listen(signal: AbortSignal): Source {
    const followers = new Set<(reason: unknown) => void>()
    const fire = (): void => {
      this.#sources.delete(signal)
      for (const follower of [...followers]) if (followers.delete(follower)) contained(() => follower(signal.reason))
    }
    signal.addEventListener('abort', fire, { once: true })
    const source = { followers, fire }
    this.#sources.set(signal, source)
    return source
  }
}

interface Source {
  readonly followers: Set<(reason: unknown) => void>
  readonly fire: () => void
}

function contained(call: () => void): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => {
      throw error
    })
  }
}
