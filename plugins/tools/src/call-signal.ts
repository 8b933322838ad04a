import type { AbortHub } from '@tenon/abort-hub'

/** Rejection of a wait that the abort of its call has ended. */
export class CallAborted extends Error {
  readonly #own = true

  constructor() {
    super('the call was aborted')
  }

  /** Not `instanceof`, which asks what was thrown for its prototype: a proxy may throw at that. */
  static is(thrown: unknown): thrown is CallAborted {
    return typeof thrown === 'object' && thrown !== null && #own in thrown
  }
}

/** Several signals as one, and waits that it ends. */
export class CallSignal {
  readonly #controller = new AbortController()
  readonly #removers: (() => void)[] = []
  readonly #waiting = new Set<() => void>()

  constructor(hub: AbortHub, sources: readonly AbortSignal[]) {
    for (const source of sources) {
      if (source.aborted) this.abort(source.reason)
      else this.#removers.push(hub.on(source, (reason) => this.abort(reason)))
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get aborted(): boolean {
    return this.#controller.signal.aborted
  }

  abort(reason: unknown): void {
    if (this.aborted) return
    this.#controller.abort(reason)
    for (const leave of [...this.#waiting]) leave()
  }

  /** Lets go of the sources. The signal stays what it is. */
  release(): void {
    for (const remove of this.#removers.splice(0)) remove()
  }

  /** The outcome of `work`, unless the signal aborts first: then CallAborted at once, and what `work` does later is ignored. */
  race<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const leave = this.onAbort(() => reject(new CallAborted()))
      work.then(
        (value) => {
          leave()
          resolve(value)
        },
        (error: unknown) => {
          leave()
          reject(error)
        },
      )
    })
  }

  /** Calls back once at the abort, at once if it has happened. @returns the remover */
  onAbort(callback: () => void): () => void {
    const leave = (): void => {
      this.#waiting.delete(leave)
      callback()
    }
    this.#waiting.add(leave)
    if (this.aborted) leave()
    return () => {
      this.#waiting.delete(leave)
    }
  }
}
