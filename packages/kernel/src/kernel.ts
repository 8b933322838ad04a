import pino, { type Logger } from 'pino'
import type { Capability } from './capability.ts'
import { currentMark } from './context.ts'
import type { Transaction, TransactionReport } from './draft.ts'
import type { Emitter } from './emitter.ts'
import { Engine } from './engine.ts'
import { KernelError } from './errors.ts'
import { type Budgets, checkBudgets, type Plugin } from './plugin.ts'
import { Reconciling } from './reconciling.ts'
import { type Cause, explain, inspect, type KernelReport } from './report.ts'
import { handleOf, type KernelEvent, type LoadOptions, type Row } from './row.ts'
import { refuse, Scope } from './scope.ts'

export interface KernelOptions {
  /** Default: pino at level `warn`, on standard error. */
  readonly logger?: Logger
  readonly budgets?: Partial<Budgets>
}

type LoadArguments<Input> = undefined extends Input
  ? [config?: NoInfer<Input>, options?: LoadOptions]
  : [config: NoInfer<Input>, options?: LoadOptions]

/** Keeps every loaded plugin active exactly while what it injects is present, and undoes all it did when that ends. */
export class Kernel implements AsyncDisposable {
  /** The host's own lifetime, for what is built on the running rows: it closes before the first of them does. */
  readonly scope: Scope
  /** Phase changes, provisions, faults and transactions. */
  readonly events: Emitter<KernelEvent>
  readonly #engine: Engine
  #closing: Promise<void> | undefined

  constructor(options: KernelOptions = {}) {
    const budgets = { activationMs: 30_000, undoMs: 10_000, ...checkBudgets(options.budgets, 'kernel') }
    const logger = options.logger ?? pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }))
    this.#engine = new Engine(logger, budgets)
    this.events = this.#engine.events
    this.scope = new Scope('host', {
      undoMs: budgets.undoMs,
      report: (error, what) => logger.error({ what, err: error }, `host: ${what}: ${error.message}`),
    })
    const slot = this.#engine.world.slot(Reconciling.key)
    const reconciling: Reconciling = {
      pending: () => this.#engine.reconciler.pending().map(({ id }) => id),
      settled: (signal) => abortable(this.#engine.settled(), signal),
    }
    slot.provision = { slot, value: reconciling, owner: undefined, users: new Set() }
  }

  /**
   * Starts to want a row; it activates in the next tick at the earliest, with all that was loaded in this one.
   * @throws KernelError KERNEL_CLOSED, PLUGIN_LOADED_TWICE, CONFIG_INVALID, CAPABILITY_CYCLE; then nothing has changed
   */
  load<Input>(plugin: Plugin<Input>, ...[config, options]: LoadArguments<Input>): Row {
    this.#engine.assertOpen()
    const unit = this.#engine.edits.load(plugin as Plugin, config, options)
    try {
      this.#engine.edits.assertAcyclic(unit)
    } catch (error) {
      this.#engine.edits.unload(unit)
      unit.unloaded = true
      throw error
    }
    return handleOf(unit, this.#engine)
  }

  /** The wanted row of this id. */
  row(id: string): Row | undefined {
    const unit = this.#engine.world.rows.get(id)
    return unit === undefined ? undefined : handleOf(unit, this.#engine)
  }

  /**
   * Several edits as one: everything is checked first, what goes down goes down once, and all of it is taken back if one fails
   * (a row it loads, reconfigures or replaces, unless that is optional, or one that was active before). Transactions queue.
   * Rejects, with no effect at all, with what the edit throws: CONFIG_INVALID, PLUGIN_LOADED_TWICE, PLUGIN_UNRESOLVED, CAPABILITY_TAKEN, CAPABILITY_CYCLE.
   */
  transaction(edit: (tx: Transaction) => void): Promise<TransactionReport> {
    return this.#engine.transaction(edit)
  }

  /** The current value, for the host. Plugins inject. */
  get<T>(capability: Capability<T>): T | undefined {
    return this.#engine.world.slots.get(capability.key)?.provision?.value as T | undefined
  }

  /** Resolves when no transition is due and no transaction under way. */
  settled(): Promise<void> {
    const inside = this.#engine.inside()
    return inside === undefined ? this.#engine.settled() : refuse(`row "${inside}" would wait for its own transition to settle`)
  }

  inspect(): KernelReport {
    return inspect(this.#engine.world, this.#engine.isSettled)
  }

  /** Why the row is not active. @throws KernelError PLUGIN_UNRESOLVED for an unknown id */
  explain(id: string): Cause {
    const unit = this.#engine.world.rows.get(id)
    if (unit === undefined) throw new KernelError('PLUGIN_UNRESOLVED', `no row "${id}" is loaded`)
    return explain(unit)
  }

  /** The host's scope, then the rows, dependents first, then what they kept. */
  close(): Promise<void> {
    const waitsForItself = this.#engine.inside() !== undefined || this.scope.encloses(currentMark()?.scope)
    this.#closing ??= this.#close()
    return waitsForItself ? refuse('closing the kernel waits for the code that awaits it') : this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    this.#engine.startClosing()
    await this.scope.close()
    await this.#engine.closeRows()
  }
}

function abortable(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort, { once: true })
    void promise.then(() => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
  })
}
