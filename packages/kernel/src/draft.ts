import { isDeepStrictEqual } from 'node:util'
import { type Edits, isFailing } from './edits.ts'
import { KernelError } from './errors.ts'
import type { Plugin } from './plugin.ts'
import type { LoadOptions } from './row.ts'
import type { Desired, RowUnit, World } from './world.ts'

/** The edits of one transaction. Every method throws on bad input, and then nothing at all happens. */
export interface Transaction {
  load<Input>(plugin: Plugin<Input>, config?: Input, options?: LoadOptions): void
  unload(id: string): void
  reconfigure(id: string, config: unknown): void
  /** Without `config` the row keeps what it was given, and the new code parses it. */
  replace<Input>(id: string, plugin: Plugin<Input>, config?: Input): void
}

/** What became of an edit; the lists hold row ids. */
export interface TransactionReport {
  readonly outcome: 'committed' | 'rolled-back'
  readonly loaded: readonly string[]
  readonly unloaded: readonly string[]
  readonly reconfigured: readonly string[]
  readonly replaced: readonly string[]
  /** Named by the edit, but equal to what was there. */
  readonly untouched: readonly string[]
  /** ROLLED_BACK; its `cause` is why, its details are the ids of the rows that failed. */
  readonly error?: KernelError
  /** Set when what was there before could not be brought back either. */
  readonly rollbackError?: Error
}

type Lists = Record<'loaded' | 'unloaded' | 'reconfigured' | 'replaced' | 'untouched', string[]>

/** Edits the indexes step by step, and knows how to take each step back. Nothing runs before the tick ends. */
export class Draft implements Transaction {
  readonly lists: Lists = { loaded: [], unloaded: [], reconfigured: [], replaced: [], untouched: [] }
  /** Rows that must not end failed. */
  readonly required = new Set<RowUnit>()
  readonly parked: RowUnit[] = []
  readonly #world: World
  readonly #edits: Edits
  readonly #undo: (() => void)[] = []
  readonly #changed = new Set<RowUnit>()

  constructor(world: World, edits: Edits) {
    this.#world = world
    this.#edits = edits
  }

  load<Input>(plugin: Plugin<Input>, config?: Input, options: LoadOptions = {}): void {
    const row = this.#edits.load(plugin as Plugin, config, options)
    this.#undo.push(() => this.#edits.unload(row))
    this.#changed.add(row)
    if (!row.optional) this.required.add(row)
    this.lists.loaded.push(row.id)
  }

  unload(id: string): void {
    const row = this.#row(id)
    row.parked = true
    this.parked.push(row)
    this.#edits.unload(row)
    this.#undo.push(() => this.#edits.restore(row))
    this.#changed.delete(row)
    this.required.delete(row)
    this.lists.unloaded.push(id)
  }

  reconfigure(id: string, config: unknown): void {
    const row = this.#row(id)
    const desired = this.#edits.desire(row.desired.plugin, config, id)
    if (!isDeepStrictEqual(desired.config, row.desired.config)) this.#set(row, desired, 'reconfigured')
    else if (!isFailing(row)) this.lists.untouched.push(id)
    else {
      this.#edits.retry(row)
      this.required.add(row)
      this.lists.reconfigured.push(id)
    }
  }

  replace<Input>(id: string, plugin: Plugin<Input>, config?: Input): void {
    const row = this.#row(id)
    this.#set(row, this.#edits.desire(plugin as Plugin, config === undefined ? row.desired.input : config, id), 'replaced')
  }

  /** @throws KernelError CAPABILITY_CYCLE, PLUGIN_UNRESOLVED, CAPABILITY_TAKEN if what was edited cannot fit the graph */
  check(): void {
    for (const row of this.#changed) {
      this.#edits.assertAcyclic(row)
      if (row.phase !== 'active') continue
      for (const { key, provision, claimants } of row.needs) {
        if (provision !== undefined || claimants.length > 0) continue
        throw new KernelError('PLUGIN_UNRESOLVED', `row "${row.id}" would wait: nothing provides "${key}"; load a provider in the same edit`)
      }
      for (const { key, holder } of row.provides) {
        if (holder === undefined || holder === row || !holder.wanted) continue
        throw new KernelError(
          'CAPABILITY_TAKEN',
          `row "${row.id}" would wait: "${key}" is provided by row "${holder.id}"; unload it in the same edit`,
        )
      }
    }
  }

  takeBack(): void {
    for (const undo of this.#undo.reverse()) undo()
  }

  #set(row: RowUnit, desired: Desired, list: 'reconfigured' | 'replaced'): void {
    const before = row.desired
    this.#edits.set(row, desired)
    // A command that came since then is not part of this edit, and stands.
    this.#undo.push(() => row.desired === desired && this.#edits.set(row, before))
    this.#changed.add(row)
    this.required.add(row)
    this.lists[list].push(row.id)
  }

  #row(id: string): RowUnit {
    const row = this.#world.rows.get(id)
    if (row === undefined)
      throw new KernelError('PLUGIN_UNRESOLVED', `no row "${id}" is loaded; known rows: ${[...this.#world.rows.keys()].join(', ')}`)
    return row
  }
}
