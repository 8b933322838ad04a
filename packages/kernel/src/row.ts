import type { Engine } from './engine.ts'
import type { KernelError } from './errors.ts'
import type { Budgets, Plugin } from './plugin.ts'
import type { RowUnit } from './world.ts'

export type Phase = 'waiting' | 'activating' | 'active' | 'deactivating' | 'failed' | 'unloaded'

export interface LoadOptions {
  /** Default: the plugin's name. */
  readonly id?: string
  /** A transaction stands although this row fails. */
  readonly optional?: boolean
  readonly budgets?: Partial<Budgets>
}

export type KernelEvent =
  | { readonly type: 'phase'; readonly row: string; readonly phase: Phase; readonly generation: number; readonly error?: Error }
  | { readonly type: 'provided' | 'withdrawn'; readonly row: string; readonly capability: string }
  | { readonly type: 'fault'; readonly row: string; readonly what: string; readonly error: Error }
  | { readonly type: 'transaction'; readonly outcome: 'committed' | 'rolled-back'; readonly error?: KernelError }

/** One loaded plugin. Awaiting its verbs from inside its own activation, undos or fork bodies rejects with WOULD_DEADLOCK. */
export class Row {
  readonly #unit: RowUnit
  readonly #engine: Engine

  /** @internal */
  constructor(unit: RowUnit, engine: Engine) {
    this.#unit = unit
    this.#engine = engine
  }

  get id(): string {
    return this.#unit.id
  }

  /** The plugin's name. */
  get name(): string {
    return this.#unit.desired.plugin.name
  }

  get phase(): Phase {
    return this.#unit.phase
  }

  /**
   * Resolves when the row is active. Rejects with its failure, or with PLUGIN_UNRESOLVED and the tree of causes once nothing that
   * could help is coming up; never resolves for a row that waits.
   */
  ready(): Promise<void> {
    return this.#engine.ready(this.#unit)
  }

  /**
   * Equal config is a no-op, except that a failed row is tried again. Resolves and rejects like `ready`; invalid config rejects with
   * CONFIG_INVALID and has no effect.
   */
  reconfigure(config: unknown): Promise<void> {
    return this.#engine.reconfigure(this.#unit, config)
  }

  /**
   * Other code under the same id, as a transaction of its own: rejects with ROLLED_BACK after the old code is active again. Without
   * `config` the row keeps what it was given, and the new code parses it.
   */
  replace<Input>(plugin: Plugin<Input>, config?: NoInfer<Input>): Promise<void> {
    return this.#engine.replace(this.#unit, plugin, config)
  }

  /** Resolves when everything is undone and what the row kept is disposed. */
  unload(): Promise<void> {
    return this.#engine.unload(this.#unit)
  }
}

/** The one handle of a row. */
export function handleOf(unit: RowUnit, engine: Engine): Row {
  unit.handle ??= new Row(unit, engine)
  return unit.handle
}
