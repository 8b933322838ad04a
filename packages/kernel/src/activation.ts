import type { Logger } from 'pino'
import type { AnyCapability } from './capability.ts'
import { Workshop } from './construct.ts'
import type { Mark } from './context.ts'
import { KernelError, type KernelErrorCode } from './errors.ts'
import { Kept } from './kept.ts'
import { type ActivationHost, type ForkBody, type KeepSpec, PluginScope } from './plugin-scope.ts'
import type { ScopeOwner } from './scope.ts'
import { type Branch, type Desired, type ForkUnit, NONE, type Provision, type RowUnit, type Slot, type Unit } from './world.ts'

/** What an activation asks of the kernel. */
export interface ActivationEnvironment {
  readonly logger: Logger
  addFork(parent: Activation, needs: readonly AnyCapability[], present: ForkBody, otherwise: ForkBody | undefined): void
  leave(unit: Unit): Promise<void>
  /** Ends a kept value of the row, within its budget. */
  dispose(row: RowUnit, run: () => void | Promise<void>): void
  fault(row: RowUnit, what: string, error: Error): void
}

/** One run of a row's `activate` or of a fork's body: the kernel's side of a plugin scope. */
export class Activation implements ActivationHost, ScopeOwner {
  /** What the unit wanted to be when this run began. */
  readonly desired: unknown
  /** What the row was activated with. */
  readonly settings: Desired
  readonly generation: number
  readonly scope: PluginScope<never, AnyCapability>
  readonly mark: Mark
  /** From the body's start to its end, while it stands, while it is undone. */
  state: 'activating' | 'live' | 'closing' = 'activating'
  /** It has to go: it is no longer what the world asks for, or it failed. */
  doomed = false
  error: Error | undefined
  /** Live activations bound to an offer of this one, and live forks: they close first. */
  dependents = 0
  offers: readonly Provision[] = NONE
  forks: readonly ForkUnit[] = NONE
  /** What a row's activation holds against rivals. */
  claimed: readonly Slot[] = NONE
  since = performance.now()
  timer: NodeJS.Timeout | undefined
  #log: Logger | undefined
  #workshop: Workshop | undefined

  constructor(
    readonly unit: Unit,
    readonly branch: Branch,
    readonly bound: readonly Provision[],
    readonly environment: ActivationEnvironment,
  ) {
    this.desired = unit.desired
    this.settings = this.parent?.settings ?? unit.row.desired
    this.generation = unit === unit.row ? ++unit.row.generation : unit.row.generation
    this.scope = new PluginScope(unit.row.id, this, this.parent?.scope)
    this.mark = { scope: this.scope, what: this.parent === undefined ? 'activation' : 'fork body', open: true }
  }

  /** The activation this fork belongs to. */
  get parent(): Activation | undefined {
    return this.unit === this.unit.row ? undefined : (this.unit as ForkUnit).parent
  }

  get isLive(): boolean {
    return this.state === 'live' && !this.doomed
  }

  get config(): unknown {
    return this.settings.config
  }

  get log(): Logger {
    this.#log ??= this.environment.logger.child({ row: this.unit.row.id, generation: this.generation })
    return this.#log
  }

  get undoMs(): number {
    return this.settings.budgets.undoMs
  }

  /** Calls the plugin's code. */
  run(): void | Promise<void> {
    const values = this.bound.map(({ value }) => value)
    if (this.unit === this.unit.row) return this.settings.plugin.activate(this.scope, ...values)
    const { present, otherwise } = this.unit as ForkUnit
    return this.branch === 'present' ? present(this.scope, ...values) : otherwise?.(this.scope)
  }

  provide(capability: AnyCapability, value: unknown): void {
    const slot = this.unit.row.provides.find(({ key }) => key === capability.key)
    if (slot === undefined) throw this.#refused('OFFER_UNDECLARED', capability, `add it to \`provides\` of plugin "${this.settings.plugin.name}"`)
    if (this.state !== 'activating') throw this.#refused('OFFER_TOO_LATE', capability, 'offer before `activate` returns, or in a fork')
    if (slot.provision !== undefined || this.offers.some((other) => other.slot === slot)) {
      throw this.#refused('CAPABILITY_TAKEN', capability, 'this row provides it already; offer it once')
    }
    this.offers = [...this.offers, { slot, value, owner: this, users: new Set() }]
  }

  fork(needs: readonly AnyCapability[], present: ForkBody, otherwise: ForkBody | undefined): void {
    this.environment.addFork(this, needs, present, otherwise)
  }

  construct<T>(type: new (...injected: never[]) => T): T {
    this.#workshop ??= new Workshop(`row "${this.unit.row.id}"`, this.scope, this.#injected())
    return this.#workshop.construct(type)
  }

  keep<T>(spec: KeepSpec<T>): T {
    const { row } = this.unit
    row.kept ??= new Kept((run) => this.environment.dispose(row, run))
    return row.kept.keep(this, spec)
  }

  leave(): Promise<void> {
    return this.environment.leave(this.unit)
  }

  report(error: Error, what: string): void {
    this.environment.fault(this.unit.row, what, error)
  }

  #refused(code: KernelErrorCode, { key }: AnyCapability, why: string): KernelError {
    return new KernelError(code, `row "${this.unit.row.id}": provide("${key}"): ${why}`)
  }

  /** By key: what the body was given, and what its parents were. */
  #injected(): Map<string, unknown> {
    const values = new Map<string, unknown>()
    for (let activation: Activation | undefined = this; activation !== undefined; activation = activation.parent) {
      for (const { slot, value } of activation.bound) if (!values.has(slot.key)) values.set(slot.key, value)
    }
    return values
  }
}
