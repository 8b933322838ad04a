import type { Scope } from './scope.ts'

interface Entry<E> {
  readonly listener: (event: E) => unknown
  readonly scope: Scope
  live: boolean
}

/** Calls its listeners in the order of registration; each lives as long as the scope it was registered with. */
export class Emitter<E> {
  readonly #what: 'listener' | 'event listener'
  #entries: readonly Entry<E>[] = []

  /** @param what how its listeners are called where a fault of theirs is reported; the kernel's own events have `event listener` */
  constructor(what: 'listener' | 'event listener' = 'listener') {
    this.#what = what
  }

  /** @throws KernelError SCOPE_CLOSED */
  on(scope: Scope, listener: (event: E) => void): void {
    const entry: Entry<E> = { listener, scope, live: true }
    // Registered first: on a closed scope the undo runs at once and `defer` throws.
    scope.defer(() => {
      entry.live = false
      this.#entries = this.#entries.filter((other) => other !== entry)
    })
    this.#entries = [...this.#entries, entry]
  }

  get listenerCount(): number {
    return this.#entries.length
  }

  /** A throwing listener, or a rejected promise of one, is reported to the owner of its scope and stops nobody. */
  emit(event: E): void {
    // The list is replaced, never changed: this one stays what it was when the emit began.
    for (const entry of this.#entries) {
      if (!entry.live) continue
      try {
        const returned = entry.listener(event)
        if (returned instanceof Promise) returned.catch((error: unknown) => entry.scope.report(error, this.#what))
      } catch (error) {
        entry.scope.report(error, this.#what)
      }
    }
  }
}
