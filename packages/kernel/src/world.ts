import type { Activation } from './activation.ts'
import type { AnyCapability } from './capability.ts'
import type { Kept } from './kept.ts'
import type { Budgets, Plugin } from './plugin.ts'
import type { ForkBody } from './plugin-scope.ts'
import type { Phase, Row } from './row.ts'

/** All that concerns one capability: an index, so that a change costs what it touches and not what there is. */
export class Slot {
  provision: Provision | undefined
  /** The row whose activation claims it; of its activation and forks one may provide. */
  holder: RowUnit | undefined
  /** Wanted rows that may provide it, in load order. */
  readonly claimants: RowUnit[] = []
  /** Wanted rows and forks that need it. */
  readonly interested = new Set<Unit>()

  constructor(readonly key: string) {}
}

/** One published value. Its identity, not its value, decides whether a binding is stale. */
export interface Provision {
  readonly slot: Slot
  readonly value: unknown
  /** Undefined for what the kernel itself provides. */
  readonly owner: Activation | undefined
  readonly users: Set<Activation>
}

export interface Failure {
  readonly error: Error
  readonly branch: Branch
  readonly bound: readonly Provision[]
  readonly desired: unknown
}

/** Most units have none of most things; they share this. */
export const NONE: readonly never[] = Object.freeze([])

export type Branch = 'present' | 'otherwise'
export type Unit = RowUnit | ForkUnit

/** What a row is to be; replaced as a whole, so that its identity tells whether an activation is up to date. */
export interface Desired {
  readonly plugin: Plugin
  readonly input: unknown
  readonly config: unknown
  readonly budgets: Budgets
}

abstract class Node {
  needs: readonly Slot[] = NONE
  wanted = true
  activation: Activation | undefined
  failure: Failure | undefined

  get phase(): Phase {
    if (this.activation === undefined) return this.failure !== undefined && !isOutdated(this.failure, this) ? 'failed' : 'waiting'
    if (this.activation.doomed) return 'deactivating'
    return this.activation.state === 'activating' ? 'activating' : 'active'
  }

  /** What a failure is a function of, besides the bindings. */
  abstract readonly desired: unknown
}

export class RowUnit extends Node {
  provides: readonly Slot[] = NONE
  generation = 0
  /** Unloaded by a transaction that has not been verified yet: what it kept may have to come back. */
  parked = false
  /** A desired state that a command has asked for again: it stands, whatever becomes of the transaction it came from. */
  confirmed: Desired | undefined
  unloaded = false
  kept: Kept | undefined
  handle: Row | undefined
  faults: { readonly what: string; readonly error: Error }[] | undefined
  times: { activationMs: number; closingMs: number | undefined } | undefined
  waiters: { resolve(): void; reject(error: Error): void }[] | undefined

  /**
   * @param order position in load order
   * @param budgets given at load; the plugin's own are part of what is desired
   */
  constructor(
    readonly id: string,
    readonly order: number,
    override desired: Desired,
    readonly optional: boolean,
    readonly budgets: Partial<Budgets> | undefined,
  ) {
    super()
  }

  get row(): RowUnit {
    return this
  }

  override get phase(): Phase {
    return this.unloaded ? 'unloaded' : super.phase
  }
}

export class ForkUnit extends Node {
  readonly desired = undefined
  /** How often a branch was started since the command of this number. */
  starts = { since: -1, count: 0 }

  /** @param order among a kernel's forks, by creation */
  constructor(
    readonly parent: Activation,
    readonly order: number,
    readonly present: ForkBody,
    readonly otherwise: ForkBody | undefined,
  ) {
    super()
  }

  get row(): RowUnit {
    return this.parent.unit.row
  }
}

/** A failure is a function of its inputs: it stands until a binding, the config or the code is another one. */
export function isOutdated(failure: Failure, unit: { readonly desired: unknown }): boolean {
  return (
    failure.desired !== unit.desired || failure.bound.some((provision) => provision.slot.provision !== provision || provision.owner?.doomed === true)
  )
}

/**
 * The provision of a slot, unless it is about to go, or hangs on the very fork that asks: what its `otherwise` brings, or what others
 * make of that, cannot be what makes the `otherwise` superfluous.
 */
export function usable(slot: Slot, unit: Unit): Provision | undefined {
  const { provision } = slot
  if (provision?.owner === undefined) return provision
  return provision.owner.doomed || (unit instanceof ForkUnit && hangsOn(provision.owner, unit)) ? undefined : provision
}

function hangsOn(owner: Activation, fork: ForkUnit): boolean {
  if (fork.activation?.branch !== 'otherwise' || fork.row.provides.length === 0) return false
  const upstream = new Set<Activation>([owner])
  for (const activation of upstream) {
    if (activation.unit === fork) return true
    if (activation.parent !== undefined) upstream.add(activation.parent)
    for (const { owner: next } of activation.bound) if (next !== undefined) upstream.add(next)
  }
  return false
}

/** Load order; a row before its forks, forks by age. */
export function inOrder(a: Unit, b: Unit): number {
  if (a.row !== b.row) return a.row.order - b.row.order
  return (a === a.row ? -1 : a.order) - (b === b.row ? -1 : b.order)
}

export class World {
  /** Wanted rows by id. */
  readonly rows = new Map<string, RowUnit>()
  /** Ids that a transaction under way may have to give back. */
  readonly parked = new Set<string>()
  /** By capability key; those that anything refers to. */
  readonly slots = new Map<string, Slot>()

  slot(key: string): Slot {
    return this.slots.get(key) ?? this.#add(new Slot(key))
  }

  link(unit: Unit, needs: readonly AnyCapability[]): void {
    if (needs.length === 0) return
    unit.needs = needs.map(({ key }) => {
      const slot = this.slot(key)
      slot.interested.add(unit)
      return slot
    })
  }

  claim(row: RowUnit, provides: readonly AnyCapability[]): void {
    if (provides.length === 0) return
    row.provides = [...new Set(provides.map(({ key }) => this.slot(key)))]
    for (const { claimants } of row.provides) {
      let index = claimants.length
      for (let before = claimants[index - 1]; before !== undefined && before.order > row.order; before = claimants[index - 1]) index--
      claimants.splice(index, 0, row)
    }
  }

  /** Takes the unit out of every index; slots that nothing refers to any more are forgotten. */
  unlink(unit: Unit): void {
    for (const slot of unit.needs) {
      slot.interested.delete(unit)
      this.#forget(slot)
    }
    unit.needs = NONE
    if (!(unit instanceof RowUnit)) return
    for (const slot of unit.provides) {
      slot.claimants.splice(slot.claimants.indexOf(unit), 1)
      this.#forget(slot)
    }
    unit.provides = NONE
  }

  #add(slot: Slot): Slot {
    this.slots.set(slot.key, slot)
    return slot
  }

  #forget(slot: Slot): void {
    if (slot.interested.size === 0 && slot.claimants.length === 0 && slot.provision === undefined && slot.holder === undefined)
      this.slots.delete(slot.key)
  }
}
