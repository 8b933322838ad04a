import type { Agenda } from './agenda.ts'
import { parseConfig } from './config.ts'
import { findCycle } from './cycles.ts'
import { KernelError } from './errors.ts'
import { type Budgets, checkBudgets, checkPlugin, type Plugin } from './plugin.ts'
import { Reconciling } from './reconciling.ts'
import type { LoadOptions } from './row.ts'
import { type Desired, RowUnit, type World } from './world.ts'

/** Changes to what is wanted. Each checks first, takes effect at once in the indexes, and is acted upon in the next tick. */
export class Edits {
  readonly #world: World
  readonly #agenda: Agenda
  readonly #budgets: Budgets
  #loaded = 0

  constructor(world: World, agenda: Agenda, budgets: Budgets) {
    this.#world = world
    this.#agenda = agenda
    this.#budgets = budgets
  }

  /**
   * @param isSuccessor the same edit has unloaded the row whose id it takes
   * @throws KernelError PLUGIN_LOADED_TWICE, CONFIG_INVALID
   */
  load(plugin: Plugin, input: unknown, options: LoadOptions = {}, isSuccessor = false): RowUnit {
    const id = options.id ?? checkPlugin(plugin).name
    if (this.#world.rows.has(id) || (this.#world.parked.has(id) && !isSuccessor)) {
      throw new KernelError('PLUGIN_LOADED_TWICE', `row "${id}" is loaded already; unload it, or give another id`)
    }
    const desired = this.desire(plugin, input, id, options.budgets)
    const row = new RowUnit(id, this.#loaded++, desired, options.optional === true, options.budgets)
    this.#want(row)
    return row
  }

  /** @throws KernelError CONFIG_INVALID, CAPABILITY_KEY_INVALID, CAPABILITY_TAKEN for what the kernel itself provides */
  desire(plugin: Plugin, input: unknown, id: string, own?: Partial<Budgets>): Desired {
    if (checkPlugin(plugin).provides.some(({ key }) => key === Reconciling.key)) {
      throw new KernelError('CAPABILITY_TAKEN', `row "${id}": "${Reconciling.key}" is provided by the kernel itself`)
    }
    const budgets =
      plugin.budgets === undefined && own === undefined
        ? this.#budgets
        : { ...this.#budgets, ...checkBudgets(plugin.budgets, id), ...checkBudgets(own, id) }
    return { plugin, input, config: parseConfig(plugin, input, id), budgets }
  }

  set(row: RowUnit, desired: Desired): void {
    const isOtherCode = row.desired.plugin !== desired.plugin
    row.desired = desired
    if (isOtherCode) {
      this.#world.unlink(row)
      this.#link(row)
    }
    this.#agenda.touch(row)
  }

  unload(row: RowUnit): void {
    if (!row.wanted) return
    row.wanted = false
    this.#world.rows.delete(row.id)
    this.#world.unlink(row)
    this.#agenda.touch(row)
  }

  /** An unload that may be taken back: the id stays taken, and what the row keeps stays. */
  park(row: RowUnit): void {
    row.parked = true
    this.#world.parked.add(row.id)
    this.unload(row)
  }

  /** Takes the unload back, unless somebody else has asked the row to go meanwhile. */
  restore(row: RowUnit): void {
    this.#world.parked.delete(row.id)
    if (!row.parked) return
    row.parked = false
    row.wanted = true
    row.unloaded = false
    this.#want(row)
  }

  /** The row is gone for good. */
  release(row: RowUnit): void {
    this.#world.parked.delete(row.id)
    row.parked = false
    if (row.unloaded) row.kept?.disposeAll()
  }

  /** @throws KernelError CAPABILITY_CYCLE with the path */
  assertAcyclic(row: RowUnit): void {
    const path = findCycle(row)
    if (path !== undefined)
      throw new KernelError('CAPABILITY_CYCLE', `row "${row.id}" waits for itself: ${path}; inject one of these in a fork instead`)
  }

  #want(row: RowUnit): void {
    this.#world.rows.set(row.id, row)
    this.#link(row)
    this.#agenda.touch(row)
  }

  #link(row: RowUnit): void {
    this.#world.link(row, row.desired.plugin.inject)
    this.#world.claim(row, row.desired.plugin.provides)
  }
}

/** Failed, or still undoing what it did before it failed. */
export function isFailing(row: RowUnit): boolean {
  return row.phase === 'failed' || row.activation?.error !== undefined
}
