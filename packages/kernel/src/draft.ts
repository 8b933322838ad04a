import { isDeepStrictEqual } from 'node:util'
import { type Edits, isFailing } from './edits.ts'
import { asError, KernelError } from './errors.ts'
import type { Plugin } from './plugin.ts'
import type { LoadOptions } from './row.ts'
import { isThenable } from './scope.ts'
import type { Desired, RowUnit, World } from './world.ts'

/** The edits of one transaction. Every method throws on bad input, and then nothing at all happens. */
export interface Transaction {
  load<Input>(plugin: Plugin<Input>, config?: NoInfer<Input>, options?: LoadOptions): void
  unload(id: string): void
  reconfigure(id: string, config: unknown): void
  /** Without `config` the row keeps what it was given, and the new code parses it. */
  replace<Input>(id: string, plugin: Plugin<Input>, config?: NoInfer<Input>): void
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
  readonly #world: World
  readonly #edits: Edits
  readonly #undo: (() => void)[] = []
  readonly #changed = new Set<RowUnit>()
  #state: 'open' | 'stands' | 'refused' = 'open'

  constructor(world: World, edits: Edits) {
    this.#world = world
    this.#edits = edits
  }

  load<Input>(plugin: Plugin<Input>, config?: NoInfer<Input>, options: LoadOptions = {}): void {
    this.#assertOpen()
    const row = this.#edits.load(plugin as Plugin, config, options, true)
    this.#undo.push(() => {
      this.#edits.unload(row)
      // An edit that was refused has never happened: nobody hears of its rows.
      row.unloaded = this.#state === 'refused'
    })
    this.#changed.add(row)
    if (!row.optional) this.required.add(row)
    this.lists.loaded.push(row.id)
  }

  unload(id: string): void {
    const row = this.#row(id)
    this.#edits.park(row)
    this.#undo.push(() => this.#edits.restore(row))
    this.#changed.delete(row)
    this.required.delete(row)
    this.lists.unloaded.push(id)
  }

  reconfigure(id: string, config: unknown): void {
    const row = this.#row(id)
    const desired = this.#edits.desire(row.desired.plugin, config, id, row.budgets)
    if (isFailing(row) || !isDeepStrictEqual(desired.config, row.desired.config)) this.#set(row, desired, 'reconfigured')
    else this.lists.untouched.push(id)
  }

  replace<Input>(id: string, plugin: Plugin<Input>, config?: NoInfer<Input>): void {
    const row = this.#row(id)
    this.#set(row, this.#edits.desire(plugin as Plugin, config === undefined ? row.desired.input : config, id, row.budgets), 'replaced')
  }

  /** Runs the edit. @throws what it throws, and CAPABILITY_CYCLE, PLUGIN_UNRESOLVED or CAPABILITY_TAKEN if the result cannot fit the graph */
  run(edit: (tx: Transaction) => void): void {
    try {
      const returned: unknown = edit(this)
      if (isThenable(returned)) {
        returned.then(undefined, () => undefined)
        throw new KernelError('SCOPE_CLOSED', 'the edit of a transaction ends when it returns; make what it needs before, and edit without awaiting')
      }
      for (const row of this.#changed) this.#check(row)
      this.#state = 'stands'
    } catch (error) {
      this.#state = 'refused'
      this.takeBack()
      throw asError(error)
    }
  }

  takeBack(): void {
    for (const undo of this.#undo.reverse()) undo()
  }

  #check(row: RowUnit): void {
    this.#edits.assertAcyclic(row)
    if (row.phase !== 'active') return
    for (const { key, provision, claimants } of row.needs) {
      // What there is of a row that claims it no more is about to go; what the kernel itself provides stays.
      if (claimants.length > 0 || (provision !== undefined && provision.owner === undefined)) continue
      throw new KernelError('PLUGIN_UNRESOLVED', `row "${row.id}" would wait: nothing provides "${key}"; load a provider in the same edit`)
    }
    for (const slot of row.provides) {
      const { key, holder } = slot
      if (holder === undefined || holder === row || !holder.provides.includes(slot)) continue
      throw new KernelError('CAPABILITY_TAKEN', `row "${row.id}" would wait: "${key}" is provided by row "${holder.id}"; unload it in the same edit`)
    }
  }

  #assertOpen(): void {
    if (this.#state !== 'open') throw new KernelError('SCOPE_CLOSED', 'the edit of this transaction has ended; start another one')
  }

  #set(row: RowUnit, desired: Desired, list: 'reconfigured' | 'replaced'): void {
    const before = row.desired
    this.#edits.set(row, desired)
    // A command that came since then is not part of this edit, and stands.
    this.#undo.push(() => row.wanted && row.desired === desired && row.confirmed !== desired && this.#edits.set(row, before))
    this.#changed.add(row)
    this.required.add(row)
    this.lists[list].push(row.id)
  }

  #row(id: string): RowUnit {
    this.#assertOpen()
    const row = this.#world.rows.get(id)
    if (row === undefined)
      throw new KernelError('PLUGIN_UNRESOLVED', `no row "${id}" is loaded; known rows: ${[...this.#world.rows.keys()].join(', ')}`)
    return row
  }
}
