/** Tells which of the objects it was shown are still alive, and keeps none of them. */
export class Witnesses {
  readonly #seen = new Map<string, WeakRef<object>[]>()
  #open = true

  /** Names one object, of a kind such as `scope`; nothing once `stop` was called. */
  see<T extends object>(kind: string, object: T): T {
    if (this.#open) this.#seen.set(kind, [...(this.#seen.get(kind) ?? []), new WeakRef(object)])
    return object
  }

  /** A reference to each of 10,000 cycles would be a leak of its own. */
  stop(): void {
    this.#open = false
  }

  /** How many there are of each kind, and how many of them are alive. */
  count(): Record<string, { readonly seen: number; readonly alive: number }> {
    return Object.fromEntries(
      [...this.#seen].map(([kind, refs]) => [kind, { seen: refs.length, alive: refs.filter((ref) => ref.deref() !== undefined).length }]),
    )
  }
}
