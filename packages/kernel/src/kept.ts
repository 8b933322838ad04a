import type { Activation } from './activation.ts'
import type { KeepSpec } from './plugin-scope.ts'

interface Entry {
  readonly value: unknown
  readonly version: number
  /** Of the newest code that became active with this version, so that replaced code is not held. */
  dispose: (value: never) => void | Promise<void>
}

/** One change of an activation that can still be taken back. */
interface Step {
  readonly key: string
  readonly entry: Entry
  /** The entry itself, if it was there already. */
  before: Entry | undefined
  migrated: boolean
  readonly dispose: Entry['dispose']
}

interface Pending {
  readonly steps: Step[]
  /** What a plugin of another name left. */
  readonly inherited: { readonly owner: string; readonly entries: Map<string, Entry> } | undefined
  /** The activation has succeeded; its transaction has not been verified yet. */
  succeeded: boolean
}

/**
 * What one row keeps across its activations. Until an activation is active its changes are steps that can be taken back: the old
 * value stays untouched beside the new one.
 */
export class Kept {
  #owner = ''
  #entries = new Map<string, Entry>()
  readonly #pending = new Map<Activation, Pending>()
  /** Of a successful activation that has closed before its transaction was verified: the next one goes on with it. */
  #carried: Pending | undefined
  readonly #dispose: (dispose: () => void | Promise<void>) => void

  /** @param dispose runs a disposal within its budget, and reports its fault. */
  constructor(dispose: (run: () => void | Promise<void>) => void) {
    this.#dispose = dispose
  }

  get keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  keep<T>(activation: Activation, spec: KeepSpec<T>): T {
    const isLate = !this.#pending.has(activation) && activation.state !== 'activating'
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
    if (isLate) this.commit(activation)
    return entry.value as T
  }

  /** The activation is active, in a transaction that may yet be taken back. Whether it has changed anything. */
  succeed(activation: Activation): boolean {
    const pending = this.#pending.get(activation)
    if (pending !== undefined) pending.succeeded = true
    return pending !== undefined
  }

  /** The activation is active: what it superseded ends. */
  commit(activation: Activation): void {
    const pending = this.#take(activation)
    if (pending !== undefined) this.#commit(pending)
  }

  /** The activation has closed. If it did not become active, or is taken back, what was there before it is back. */
  closed(activation: Activation, isTakenBack: boolean): void {
    const pending = this.#take(activation)
    if (pending === undefined) return
    if (!pending.succeeded || isTakenBack) this.#rollback(pending)
    else if (this.#carried === undefined) this.#carried = pending
    else this.#carried.steps.push(...pending.steps)
  }

  /** The transaction is taken back, and nobody goes on with what was carried. */
  takeBack(): void {
    if (this.#carried !== undefined) this.#rollback(this.#carried)
    this.#carried = undefined
  }

  /** The row is gone: the newest value ends first. */
  disposeAll(): void {
    if (this.#carried !== undefined) this.#commit(this.#carried)
    this.#carried = undefined
    for (const entry of [...this.#entries.values()].reverse()) this.#end(entry)
    this.#entries.clear()
  }

  /** Once per activation of the row: a plugin of another name starts without what its predecessor kept. */
  begin(activation: Activation): Pending {
    let pending = this.#pending.get(activation)
    if (pending !== undefined) return pending
    const { name } = activation.unit.row.desired.plugin
    if (this.#owner !== name) this.takeBack()
    pending = this.#carried ?? { steps: [], inherited: this.#handOver(name), succeeded: false }
    pending.succeeded = false
    this.#carried = undefined
    this.#pending.set(activation, pending)
    return pending
  }

  #handOver(name: string): Pending['inherited'] {
    if (this.#owner === name) return undefined
    const inherited = this.#entries.size > 0 ? { owner: this.#owner, entries: this.#entries } : undefined
    this.#owner = name
    this.#entries = new Map()
    return inherited
  }

  #take(activation: Activation): Pending | undefined {
    const pending = this.#pending.get(activation)
    this.#pending.delete(activation)
    return pending
  }

  #commit(pending: Pending): void {
    for (const { entry, dispose, ...own } of pending.steps) {
      entry.dispose = dispose
      // If another one has made it that may yet fail, it stands all the same.
      const step = own.before === entry ? this.#stepThat((other) => other.entry === entry && other.before !== entry) : own
      if (step?.before !== undefined && step.before !== entry && !step.migrated) this.#end(step.before)
      if (step !== undefined) step.before = entry
    }
    for (const entry of pending.inherited?.entries.values() ?? []) this.#end(entry)
  }

  #rollback(pending: Pending): void {
    for (const { key, entry, before, migrated } of pending.steps.reverse()) {
      if (entry === before) continue
      const heir = this.#stepThat((other) => other.entry === entry)
      if (heir !== undefined) {
        Object.assign(heir, { before, migrated })
        continue
      }
      if (before === undefined) this.#entries.delete(key)
      else this.#entries.set(key, before)
      if (!migrated) this.#end(entry)
    }
    if (pending.inherited === undefined) return
    this.#owner = pending.inherited.owner
    this.#entries = pending.inherited.entries
  }

  #stepThat(isMeant: (step: Step) => boolean): Step | undefined {
    for (const { steps } of this.#pending.values()) for (const step of steps) if (isMeant(step)) return step
    return undefined
  }

  #end(entry: Entry): void {
    this.#dispose(() => entry.dispose(entry.value as never))
  }
}
