import type { Logger } from 'pino'
import type { AnyCapability, ValueOf, ValuesOf } from './capability.ts'
import type { Injected } from './construct.ts'
import { Scope, type ScopeOwner } from './scope.ts'

/** A value that lives as long as the row, across reloads of its code and config. */
export interface KeepSpec<T> {
  readonly key: string
  /** Of the shape of the value. Another version calls `migrate`, or creates anew. */
  readonly version: number
  create(): T
  dispose(value: T): void | Promise<void>
  /** Hands over what the old value holds; must not change or end it, since a failing activation gets it back. */
  migrate?(old: unknown, fromVersion: number): T
}

/** The kernel's side of a plugin scope. */
export interface ActivationHost {
  readonly config: unknown
  readonly log: Logger
  provide(capability: AnyCapability, value: unknown): void
  fork(needs: readonly AnyCapability[], present: ForkBody, otherwise: ForkBody | undefined): void
  construct<T>(type: new (...injected: never[]) => T): T
  keep<T>(spec: KeepSpec<T>): T
  leave(): Promise<void>
}

// biome-ignore lint/suspicious/noExplicitAny: erased; PluginScope.inject checks the types of the author's functions.
export type ForkBody = (fork: any, ...values: any[]) => void | Promise<void>

/**
 * The scope of one activation of a row, or of one live fork. After it has closed it refuses every registration, offer, fork and
 * read with SCOPE_CLOSED.
 */
export class PluginScope<Config = unknown, Offers extends AnyCapability = never> extends Scope implements Injected {
  /** @internal */
  readonly host: ActivationHost

  /** @internal Only the kernel makes one. */
  constructor(name: string, host: ActivationHost & ScopeOwner, parent?: Scope) {
    super(name, host, parent)
    this.host = host
  }

  /** The row's parsed config. @throws KernelError SCOPE_CLOSED */
  get config(): Config {
    this.assertReadable('config')
    return this.host.config as Config
  }

  /** A child logger that names row and generation. */
  get log(): Logger {
    return this.host.log
  }

  /**
   * Publishes a value when the activation (or the fork's body) has succeeded.
   * @throws KernelError OFFER_UNDECLARED, OFFER_TOO_LATE, CAPABILITY_TAKEN, SCOPE_CLOSED
   */
  provide<C extends Offers>(offer: C, value: ValueOf<C>): void {
    this.assertOpen('provide')
    this.host.provide(offer, value)
  }

  /**
   * A fork: `present` is alive exactly while all `needs` are there, `otherwise` while they are not and nothing that could bring
   * them is coming up. At most one of them is alive; each has a scope of its own. Bodies run after the activation succeeded.
   * @throws KernelError SCOPE_CLOSED
   */
  inject<const Needs extends readonly AnyCapability[]>(
    needs: Needs,
    present: (fork: PluginScope<Config, Offers>, ...values: ValuesOf<Needs>) => void | Promise<void>,
    otherwise?: (fork: PluginScope<Config, Offers>) => void | Promise<void>,
  ): void {
    this.assertOpen('inject')
    this.host.fork(needs, present as ForkBody, otherwise as ForkBody | undefined)
  }

  /**
   * Constructor injection: every parameter names its token with `@inject(Token)`, one of those this scope or its parents inject, or
   * `PluginScope`.
   * @throws KernelError CONSTRUCTION_FAILED, SCOPE_CLOSED
   */
  construct<T>(type: new (...injected: never[]) => T): T {
    this.assertOpen('construct')
    return this.host.construct(type)
  }

  /** The same value for every activation of this row. @throws KernelError SCOPE_CLOSED */
  keep<T>(spec: KeepSpec<T>): T {
    this.assertOpen('keep')
    return this.host.keep(spec)
  }

  /** Leaves for good, in order: a row is unloaded, a fork is dropped. */
  override close(): Promise<void> {
    return this.closed ? super.close() : this.host.leave()
  }

  private assertReadable(verb: string): void {
    if (this.ended) throw this.refusal(verb)
  }
}
