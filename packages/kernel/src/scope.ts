import { currentMark, hold, type Mark, release, runMarked } from './context.ts'
import { asError, KernelError } from './errors.ts'

export type Fault = 'undo' | 'spawned work' | 'listener' | 'event listener' | 'fork body' | 'dispose'

/** Whoever answers for a scope: a row of the kernel, or the host. */
export interface ScopeOwner {
  /** Milliseconds that one undo may take. */
  readonly undoMs: number
  report(error: Error, what: Fault, scope: Scope): void
}

/** Effects form a linked list: spawned work leaves it from the middle when it ends. */
interface Effect {
  readonly undo: () => unknown
  readonly what: 'undo' | 'spawned work'
  previous: Effect | undefined
  next: Effect | undefined
}

const hostOwner: ScopeOwner = {
  undoMs: 10_000,
  report: (error) => process.emitWarning(error),
}

/**
 * A lifetime. Owns effects and undoes them last in first out, each awaited and each within its own budget; a fault of one stops
 * nothing. Whatever registers something for a caller takes the caller's scope as its first parameter.
 */
export class Scope implements AsyncDisposable {
  readonly name: string
  readonly #owner: ScopeOwner
  readonly #parent: Scope | undefined
  #state: 'open' | 'closing' | 'closed' = 'open'
  #last: Effect | undefined
  #children: Set<Scope> | undefined
  #controller: AbortController | undefined
  #quiet: { readonly promise: Promise<void>; resolve(): void } | undefined

  constructor(name = 'scope', owner: ScopeOwner = hostOwner, parent?: Scope) {
    this.name = name
    this.#owner = owner
    this.#parent = parent
  }

  /** Aborts when closing starts, before the first undo. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#state !== 'open') this.cancel()
    }
    return this.#controller.signal
  }

  /** True from the moment closing starts. */
  get closed(): boolean {
    return this.#state !== 'open'
  }

  /** @internal The outermost scope around this one. */
  get root(): Scope {
    return this.#parent === undefined ? this : this.#parent.root
  }

  /** @internal How many undos are due. */
  get effects(): number {
    let count = 0
    for (let effect = this.#last; effect !== undefined; effect = effect.previous) count++
    return count
  }

  /** @internal True once every undo has run: undos themselves may still read. */
  get ended(): boolean {
    return this.#state === 'closed'
  }

  /**
   * Runs `undo` when the scope closes. On a closed scope it runs at once: whoever made the effect need not clean up.
   * @throws KernelError SCOPE_CLOSED
   */
  defer(undo: () => void | Promise<void>): void {
    if (this.#state !== 'open') {
      void this.#undo({ undo, what: 'undo', previous: undefined, next: undefined })
      throw this.refusal('defer')
    }
    this.#add(undo, 'undo')
  }

  /**
   * Disposes the resource when the scope closes, at once on a closed scope.
   * @throws KernelError SCOPE_CLOSED
   */
  use<R extends Disposable | AsyncDisposable>(resource: R): R {
    this.defer(() => (Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose]() : resource[Symbol.dispose]()) as Promise<void>)
    return resource
  }

  /**
   * Work that belongs to this scope: cancelled when closing starts, then waited for. A rejection is reported, unless it is the
   * answer to the cancellation.
   * @throws KernelError SCOPE_CLOSED
   */
  spawn(work: (signal: AbortSignal) => Promise<void>): void {
    this.assertOpen('spawn')
    const { signal } = this
    const mark: Mark = { scope: this, what: 'spawned work', open: true }
    const running = runMarked(mark, async () => work(signal)).then(
      () => undefined,
      (error: unknown) => {
        if (!signal.aborted || !isAbort(error, signal)) this.report(error, 'spawned work')
      },
    )
    const effect = this.#add(() => running, 'spawned work')
    void running.then(() => {
      mark.open = false
      this.#remove(effect)
    })
  }

  /**
   * A lifetime within this one. Children close before their parent's own undos: all together, the newest first to begin.
   * @throws KernelError SCOPE_CLOSED
   */
  child(name: string): Scope {
    this.assertOpen('child')
    const child = new Scope(name, this.#owner, this)
    this.#children ??= new Set()
    this.#children.add(child)
    return child
  }

  /**
   * Resolves when every undo has ended or overrun its budget. Never rejects for a failing undo; those go to the owner.
   * Rejects with KernelError WOULD_DEADLOCK if awaited by something this closing waits for; the closing goes on.
   */
  close(): Promise<void> {
    const waitsForItself = this.encloses(currentMark()?.scope)
    this.#quiet ??= deferred()
    if (this.#state === 'closed') this.#quiet.resolve()
    else this.shut()
    return waitsForItself ? refuse(`closing scope "${this.name}" waits for the code that awaits it`) : this.#quiet.promise
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Tells the owner of a fault that happened in this scope's name. Never throws. */
  report(error: unknown, what: Fault): void {
    this.#owner.report(asError(error), what, this)
  }

  /** @internal Aborts the signals of the scope and its children, and undoes nothing: cancel first, then wait. */
  cancel(): void {
    if (this.#controller?.signal.aborted === false) this.#controller.abort(new KernelError('SCOPE_CLOSED', `scope "${this.name}" is closing`))
    for (const child of this.#children ?? []) child.cancel()
  }

  /** @internal Starts closing without waiting, and says whether it is done: most undos are synchronous. */
  shut(): boolean {
    if (this.#state === 'open') {
      this.#state = 'closing'
      this.cancel()
      const slow: Promise<void>[] = []
      if (this.#children !== undefined) {
        for (const child of [...this.#children].reverse()) if (!child.shut()) slow.push(child.quiescence())
      }
      if (slow.length === 0) this.#undoAll()
      else void Promise.all(slow).then(() => this.#undoAll())
    }
    return (this.#state as string) === 'closed'
  }

  /** @internal The promise of `close`, without asking who waits. */
  quiescence(): Promise<void> {
    this.#quiet ??= deferred()
    if (this.#state === 'closed') this.#quiet.resolve()
    return this.#quiet.promise
  }

  /** @internal True for the scope itself and everything inside it. */
  encloses(inner: Scope | undefined): boolean {
    for (let scope = inner; scope !== undefined; scope = scope.#parent) if (scope === this) return true
    return false
  }

  protected assertOpen(verb: string): void {
    if (this.#state !== 'open') throw this.refusal(verb)
  }

  protected refusal(verb: string): KernelError {
    return new KernelError('SCOPE_CLOSED', `${verb}: scope "${this.name}" is closed; register with a scope that is still open`)
  }

  #add(undo: () => unknown, what: Effect['what']): Effect {
    const effect: Effect = { undo, what, previous: this.#last, next: undefined }
    if (this.#last !== undefined) this.#last.next = effect
    this.#last = effect
    return effect
  }

  #remove(effect: Effect): void {
    if (effect.previous !== undefined) effect.previous.next = effect.next
    if (effect.next !== undefined) effect.next.previous = effect.previous
    else if (this.#last === effect) this.#last = effect.previous
  }

  #undoAll(): void {
    for (let effect = this.#last; effect !== undefined; effect = this.#last) {
      this.#remove(effect)
      const slow = this.#undo(effect)
      if (slow !== undefined) {
        void slow.then(() => this.#undoAll())
        return
      }
    }
    this.#state = 'closed'
    if (this.#parent !== undefined) this.#parent.#children?.delete(this)
    this.#quiet?.resolve()
  }

  #undo(effect: Effect): Promise<void> | undefined {
    const mark: Mark = { scope: this, what: 'undo', open: true }
    hold()
    let slow: Promise<void> | undefined
    try {
      const returned = runMarked(mark, effect.undo)
      if (isThenable(returned)) slow = this.#bounded(returned, effect.what)
    } catch (error) {
      this.report(error, effect.what)
    }
    const end = (): void => {
      mark.open = false
      release()
    }
    if (slow === undefined) end()
    return slow?.then(end)
  }

  /** Waits for one undo within its budget; what it does later is only reported. */
  #bounded(undo: PromiseLike<unknown>, what: Effect['what']): Promise<void> {
    return new Promise((resolve) => {
      const overrun = (): void => {
        const ms = this.#owner.undoMs
        this.report(new KernelError('CLEANUP_TIMEOUT', `an undo of scope "${this.name}" took longer than ${ms} ms and was left behind`), what)
        resolve()
      }
      const timer = setTimeout(overrun, this.#owner.undoMs)
      // A foreign thenable may call back at once, twice, or throw: `Promise.resolve` makes a promise of it.
      void Promise.resolve(undo)
        .catch((error: unknown) => this.report(error, what))
        .then(() => {
          clearTimeout(timer)
          resolve()
        })
    })
  }
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as PromiseLike<unknown>).then === 'function'
}

/** A rejection for whoever waits for itself: asked for without awaiting it never shows as unhandled. */
export function refuse(why: string): Promise<never> {
  const refused = Promise.reject(new KernelError('WOULD_DEADLOCK', `${why}; start it without awaiting, or wait after the activation has ended`))
  refused.catch(() => undefined)
  return refused
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  return error === signal.reason || (error instanceof Error && error.name === 'AbortError')
}

function deferred(): { readonly promise: Promise<void>; resolve(): void } {
  let resolve = (): void => undefined
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
