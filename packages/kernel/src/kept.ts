import type { Activation } from './activation.ts'
import type { KeepSpec } from './plugin-scope.ts'

interface Entry {
  readonly value: unknown
  readonly version: number
  /** Of the newest code that became active with this version, so that replaced code is not held. */
  dispose: (value: never) => void | Promise<void>
}

/** One step of an activation that is not active yet. */
interface Step {
  readonly key: string
  readonly entry: Entry
  readonly before: Entry | undefined
  readonly migrated: boolean
  readonly dispose: Entry['dispose']
}

interface Pending {
  readonly steps: Step[]
  /** What a plugin of another name left. */
  readonly inherited: { readonly owner: string; readonly entries: Map<string, Entry> } | undefined
}

/**
 * What one row keeps across its activations. Until an activation is active its changes are steps that can be taken back: the old
 * value stays untouched beside the new one.
 */
export class Kept {
  #owner = ''
  #entries = new Map<string, Entry>()
  readonly #pending = new Map<Activation, Pending>()
  readonly #dispose: (dispose: () => void | Promise<void>) => void

  /** @param dispose runs a disposal within its budget, and reports its fault. */
  constructor(dispose: (run: () => void | Promise<void>) => void) {
    this.#dispose = dispose
  }

  get keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  keep<T>(activation: Activation, spec: KeepSpec<T>): T {
    const pending = this.begin(activation)
    const before = this.#entries.get(spec.key)
    const dispose = (value: never): void | Promise<void> => spec.dispose(value as T)
    let entry = before
    let migrated = false
    if (entry?.version !== spec.version) {
      migrated = before !== undefined && spec.migrate !== undefined
      const value = before !== undefined && spec.migrate !== undefined ? spec.migrate(before.value, before.version) : spec.create()
      entry = { value, version: spec.version, dispose }
      this.#entries.set(spec.key, entry)
    }
    pending.steps.push({ key: spec.key, entry, before, migrated, dispose })
    if (activation.state !== 'activating') this.commit(activation)
    return entry.value as T
  }

  /** The activation is active: what it superseded ends. */
  commit(activation: Activation): void {
    const pending = this.#pending.get(activation)
    if (pending === undefined) return
    this.#pending.delete(activation)
    for (const { entry, before, migrated, dispose } of pending.steps) {
      entry.dispose = dispose
      if (before !== undefined && before !== entry && !migrated) this.#end(before)
    }
    for (const entry of pending.inherited?.entries.values() ?? []) this.#end(entry)
  }

  /** The activation did not become active: what was there before it is back. */
  rollback(activation: Activation): void {
    const pending = this.#pending.get(activation)
    if (pending === undefined) return
    this.#pending.delete(activation)
    for (const { key, entry, before, migrated } of pending.steps.reverse()) {
      if (entry === before) continue
      if (before === undefined) this.#entries.delete(key)
      else this.#entries.set(key, before)
      if (!migrated) this.#end(entry)
    }
    if (pending.inherited === undefined) return
    this.#owner = pending.inherited.owner
    this.#entries = pending.inherited.entries
  }

  /** The row is gone: the newest value ends first. */
  disposeAll(): void {
    for (const entry of [...this.#entries.values()].reverse()) this.#end(entry)
    this.#entries.clear()
  }

  /** Once per activation of the row: a plugin of another name starts without what its predecessor kept. */
  begin(activation: Activation): Pending {
    let pending = this.#pending.get(activation)
    if (pending === undefined) {
      const { name } = activation.unit.row.desired.plugin
      let inherited: Pending['inherited']
      if (this.#owner !== name) {
        if (this.#entries.size > 0) inherited = { owner: this.#owner, entries: this.#entries }
        this.#owner = name
        this.#entries = new Map()
      }
      pending = { steps: [], inherited }
      this.#pending.set(activation, pending)
    }
    return pending
  }

  #end(entry: Entry): void {
    this.#dispose(() => entry.dispose(entry.value as never))
  }
}
