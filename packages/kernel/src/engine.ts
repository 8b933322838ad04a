import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import type { Activation } from './activation.ts'
import type { AnyCapability } from './capability.ts'
import { currentMark } from './context.ts'
import type { Transaction, TransactionReport } from './draft.ts'
import { Edits, isFailing } from './edits.ts'
import { Emitter } from './emitter.ts'
import { KernelError } from './errors.ts'
import type { Kept } from './kept.ts'
import type { Observer } from './lifecycle.ts'
import { withDependents } from './plan.ts'
import type { Budgets, Plugin } from './plugin.ts'
import { type ForkBody, PluginScope } from './plugin-scope.ts'
import { canArise } from './prospects.ts'
import { Reconciler } from './reconciler.ts'
import { causeText, explain } from './report.ts'
import type { KernelEvent } from './row.ts'
import { refuse, Scope } from './scope.ts'
import { type TransactionHost, Transactions } from './transactions.ts'
import { ForkUnit, type Provision, type RowUnit, type Unit, World } from './world.ts'

const FAULTS_KEPT = 20

/** One kernel's inside: carries commands to the reconciler, and what happens there to whoever waits or listens. */
export class Engine implements Observer, TransactionHost {
  readonly world = new World()
  readonly events = new Emitter<KernelEvent>('event listener')
  readonly logger: Logger
  readonly reconciler = new Reconciler(this.world, this, () => this.passed())
  readonly agenda = this.reconciler.agenda
  readonly edits: Edits
  readonly transactions = new Transactions(this)
  #quiet: (() => void)[] = []
  #settled: (() => void)[] = []
  /** Rows somebody waits for. */
  readonly #awaited = new Set<RowUnit>()
  /** While the kernel closes: rows in the order they went, whose kept values end last. */
  #departed: RowUnit[] | undefined
  #forks = 0

  constructor(logger: Logger, budgets: Budgets) {
    this.logger = logger
    this.edits = new Edits(this.world, this.agenda, budgets)
  }

  // What the reconciler tells.

  phase(row: RowUnit, error?: Error): void {
    const { phase, generation } = row
    if (error !== undefined) this.#log('error', { row: row.id, err: error }, error.message)
    if (this.events.listenerCount > 0) this.events.emit({ type: 'phase', row: row.id, phase, generation, ...(error === undefined ? {} : { error }) })
  }

  shaken(row: RowUnit): void {
    this.transactions.shake(row)
  }

  succeeded(kept: Kept, activation: Activation): void {
    this.transactions.keep(kept, activation)
  }

  closed(kept: Kept, activation: Activation): void {
    this.transactions.closed(kept, activation)
  }

  offered({ slot, owner }: Provision, type: 'provided' | 'withdrawn'): void {
    if (this.events.listenerCount > 0) this.events.emit({ type, row: owner?.unit.row.id ?? 'kernel', capability: slot.key })
  }

  fault(row: RowUnit, what: string, error: Error): void {
    row.faults = [...(row.faults ?? []).slice(1 - FAULTS_KEPT), { what, error }]
    this.#log('error', { row: row.id, what, err: error }, `row "${row.id}": ${what}: ${error.message}`)
    // One that fails at the news of a fault would be told of its own, and so on.
    if (what !== 'event listener') this.events.emit({ type: 'fault', row: row.id, what, error })
  }

  gone(row: RowUnit): void {
    row.unloaded = true
    this.phase(row)
    if (this.#departed !== undefined) this.#departed.push(row)
    else if (row.parked) this.transactions.depart(row)
    else row.kept?.disposeAll()
  }

  dispose(row: RowUnit, run: () => void | Promise<void>): void {
    const scope = new Scope(row.id, { undoMs: row.desired.budgets.undoMs, report: (error) => this.fault(row, 'dispose', error) })
    scope.defer(run)
    if (!scope.shut()) this.reconciler.waitFor(row, scope.quiescence())
  }

  addFork(parent: Activation, needs: readonly AnyCapability[], present: ForkBody, otherwise: ForkBody | undefined): void {
    const fork = new ForkUnit(parent, this.#forks++, present, otherwise)
    parent.forks = [...parent.forks, fork]
    this.world.link(fork, needs)
    if (parent.isLive) this.agenda.touch(fork)
  }

  leave(unit: Unit): Promise<void> {
    if (!(unit instanceof ForkUnit)) return this.unload(unit)
    const { activation, parent } = unit
    const waitsForItself = activation?.scope.encloses(currentMark()?.scope) === true
    parent.forks = parent.forks.filter((fork) => fork !== unit)
    this.agenda.drop(unit)
    if (waitsForItself) return refuse(`dropping a fork of row "${unit.row.id}" waits for the code that awaits it`)
    return activation?.scope.quiescence() ?? Promise.resolve()
  }

  passed(): void {
    const isReview = this.agenda.unreviewed || this.agenda.isIdle
    this.agenda.unreviewed = false
    for (const row of this.#awaited) this.#answer(row, isReview)
    if (!this.agenda.isIdle) return
    for (const resolve of this.#quiet.splice(0)) resolve()
    if (this.transactions.isIdle) for (const resolve of this.#settled.splice(0)) resolve()
  }

  // What is asked.

  quiet(): Promise<void> {
    return this.agenda.isIdle ? Promise.resolve() : new Promise((resolve) => this.#quiet.push(resolve))
  }

  get isSettled(): boolean {
    return this.agenda.isIdle && this.transactions.isIdle
  }

  /** Without asking who waits. */
  settled(): Promise<void> {
    return this.isSettled ? Promise.resolve() : new Promise((resolve) => this.#settled.push(resolve))
  }

  transaction(edit: (tx: Transaction) => void): Promise<TransactionReport> {
    const inside = this.inside()
    const report = this.transactions.run(edit)
    if (inside === undefined) return report
    report.catch((error: unknown) => this.#log('error', { row: inside, err: error }, `row "${inside}": its transaction was refused`))
    return refuse(`row "${inside}" would wait for a transaction that waits for it`)
  }

  finished(report: TransactionReport | undefined): void {
    if (report !== undefined) {
      const { outcome, error } = report
      if (this.events.listenerCount > 0) this.events.emit({ type: 'transaction', outcome, ...(error === undefined ? {} : { error }) })
      if (error !== undefined) this.#log('warn', { err: error }, error.message)
    }
    this.passed()
  }

  assertOpen(): void {
    if (this.#departed !== undefined) throw new KernelError('KERNEL_CLOSED', 'the kernel is closing; open another one')
  }

  ready(row: RowUnit): Promise<void> {
    const inside = this.inside()
    if (inside !== undefined) return refuse(`row "${inside}" would wait for row "${row.id}" in the middle of its own transition`)
    return this.#ready(row)
  }

  reconfigure(row: RowUnit, config: unknown): Promise<void> {
    const inside = this.inside()
    try {
      const desired = this.edits.desire(row.desired.plugin, config, row.id, row.budgets)
      if (isFailing(row) || !isDeepStrictEqual(desired.config, row.desired.config)) this.edits.set(row, desired)
      else row.confirmed = row.desired
    } catch (error) {
      return Promise.reject(error)
    }
    return inside === undefined ? this.#ready(row) : refuse(`row "${inside}" would wait for row "${row.id}" in the middle of its own transition`)
  }

  replace<Input>(row: RowUnit, plugin: Plugin<Input>, config?: NoInfer<Input>): Promise<void> {
    const inside = this.inside()
    const report = this.transaction((tx) => {
      // The id may be another row's by now.
      if (!row.wanted) throw this.#farewell(row)
      tx.replace(row.id, plugin, config)
    })
    // A refusal is handed on as it is: a promise derived from it would show as unhandled.
    if (inside !== undefined) return report as Promise<never>
    return report.then(({ error }) => {
      if (error !== undefined) throw error
    })
  }

  unload(row: RowUnit): Promise<void> {
    const waitsForItself = this.#waitsFor(row)
    if (row.parked) this.edits.release(row)
    this.edits.unload(row)
    return waitsForItself ? refuse(`unloading row "${row.id}" waits for the code that awaits it`) : this.#ready(row).catch(() => undefined)
  }

  /** From here on nothing comes up, and no command is taken. */
  startClosing(): void {
    this.#departed = []
    this.reconciler.freeze()
  }

  /** Rows dependents first and otherwise in reverse load order, then what they kept. */
  async closeRows(): Promise<void> {
    for (const row of this.world.rows.values()) this.edits.unload(row)
    await this.settled()
    for (const { kept } of this.#departed ?? []) {
      if (kept === undefined) continue
      kept.disposeAll()
      await this.quiet()
    }
  }

  /** What cannot be written stops nothing: the disk may be full, or something within the error throw, which then is told without it. */
  #log(level: 'error' | 'warn', facts: { readonly row?: string; readonly what?: string; readonly err: unknown }, message: string): void {
    const { err: _, ...rest } = facts
    for (const record of [facts, rest]) {
      try {
        this.logger[level](record, message)
        return
      } catch {
        // Then without the error, or not at all.
      }
    }
  }

  /** The row of this kernel in whose transition, or spawned work, the caller runs. */
  inside(): string | undefined {
    const root = currentMark()?.scope.root
    if (!(root instanceof PluginScope)) return undefined
    const { environment, unit } = root.host as Activation
    return environment === this ? unit.row.id : undefined
  }

  /** Is the caller run by the row, or by something that has to go down before it can? */
  #waitsFor(row: RowUnit): boolean {
    const scope = currentMark()?.scope
    if (scope === undefined || row.activation === undefined) return false
    return withDependents([row.activation], true).some((activation) => activation.scope.encloses(scope))
  }

  #ready(row: RowUnit): Promise<void> {
    return new Promise((resolve, reject) => {
      row.waiters = [...(row.waiters ?? []), { resolve, reject }]
      this.#awaited.add(row)
      if (!this.agenda.isDue) this.#answer(row, true)
    })
  }

  /**
   * Tells who waits for the row, once its fate is known; others in transition do not matter.
   * @param isReview whether what a waiting row hopes for is looked at: it changes with setbacks only, and costs a walk upstream
   */
  #answer(row: RowUnit, isReview: boolean): void {
    const isUp = row.phase === 'active'
    const error = isUp ? undefined : this.#fate(row, isReview)
    if (!isUp && error === undefined) return
    this.#awaited.delete(row)
    const { waiters = [] } = row
    row.waiters = undefined
    for (const { resolve, reject } of waiters) error === undefined ? resolve() : reject(error)
  }

  /** Why the row will not become active, as things stand; undefined while it still may. */
  #fate(row: RowUnit, isReview: boolean): Error | undefined {
    if (this.agenda.isMoving(row)) return undefined
    if (row.unloaded) return this.#farewell(row)
    if (!this.transactions.isIdle) return undefined
    if (row.phase === 'failed') return row.failure?.error
    if (!isReview) return undefined
    const isTaken = row.provides.some(({ holder }) => holder !== row && holder?.activation?.isLive === true)
    return isTaken || !canArise(row) ? this.#unresolved(row) : undefined
  }

  #farewell(row: RowUnit): KernelError {
    return this.#departed === undefined
      ? new KernelError('PLUGIN_UNRESOLVED', `row "${row.id}" was unloaded`)
      : new KernelError('KERNEL_CLOSED', `row "${row.id}" ended with its kernel`)
  }

  #unresolved(row: RowUnit): KernelError {
    const cause = explain(row)
    return new KernelError('PLUGIN_UNRESOLVED', causeText(cause), { details: JSON.parse(JSON.stringify(cause)) })
  }
}
