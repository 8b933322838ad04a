/** One listener per signal, however many wait on it: Node warns of the eleventh, and a session hands one signal to all its calls. */
export class AbortHub {
  readonly #sources = new WeakMap<AbortSignal, { readonly calls: Set<() => void>; readonly fire: () => void }>()

  /** Calls once at the abort; never if it has happened. @returns what takes it back */
  on(signal: AbortSignal, call: () => void): () => void {
    const source = this.#sources.get(signal) ?? this.#listen(signal)
    const own = (): void => call()
    source.calls.add(own)
    return () => {
      if (!source.calls.delete(own) || source.calls.size > 0) return
      signal.removeEventListener('abort', source.fire)
      this.#sources.delete(signal)
    }
  }

  #listen(signal: AbortSignal) {
    const calls = new Set<() => void>()
    const fire = (): void => {
      this.#sources.delete(signal)
      for (const call of [...calls]) {
        // One that an earlier one took back is not called.
        if (calls.delete(call)) call()
      }
    }
    const source = { calls, fire }
    this.#sources.set(signal, source)
    signal.addEventListener('abort', fire, { once: true })
    return source
  }
}
