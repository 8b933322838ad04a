import type { Activation } from './activation.ts'
import { Draft, type Transaction, type TransactionReport } from './draft.ts'
import type { Edits } from './edits.ts'
import { KernelError } from './errors.ts'
import type { Kept } from './kept.ts'
import type { RowUnit, World } from './world.ts'

/** What a transaction needs of the engine. */
export interface TransactionHost {
  readonly world: World
  readonly edits: Edits
  /** No row is in transition. */
  quiet(): Promise<void>
  /** @throws KernelError KERNEL_CLOSED */
  assertOpen(): void
  /** `report` is undefined for an edit that was refused. */
  finished(report: TransactionReport | undefined): void
}

/** One transaction after the other, each on the settled result of the one before. */
export class Transactions {
  readonly #host: TransactionHost
  #tail: Promise<unknown> = Promise.resolve()
  #open = 0
  /** Rows that went down although they were active, since the running transaction began. */
  #shaken: Set<RowUnit> | undefined
  #departed: RowUnit[] = []
  #unverified: [Kept, Activation][] = []
  #isTakingBack = false

  constructor(host: TransactionHost) {
    this.#host = host
  }

  get isIdle(): boolean {
    return this.#open === 0
  }

  shake(row: RowUnit): void {
    this.#shaken?.add(row)
  }

  /** A row it unloads is down; what such rows kept ends in the order they went, dependents first. */
  depart(row: RowUnit): void {
    this.#departed.push(row)
  }

  /** What a row kept before stays beside the new values until the transaction has been verified. */
  keep(kept: Kept, activation: Activation): void {
    if (this.#shaken === undefined) kept.commit(activation)
    else if (kept.succeed(activation)) this.#unverified.push([kept, activation])
  }

  /** What was kept is rolled back when an activation closes that the running transaction takes back. */
  closed(kept: Kept, activation: Activation): void {
    kept.closed(activation, this.#isTakingBack)
  }

  run(edit: (tx: Transaction) => void): Promise<TransactionReport> {
    this.#open++
    const result = this.#tail.then(() => this.#run(edit))
    this.#tail = result.then(
      (report) => this.#end(report),
      () => this.#end(undefined),
    )
    return result
  }

  /** Activations that were taken back have rolled back what they kept when they closed. */
  #verified(): void {
    this.#shaken = undefined
    for (const [kept, activation] of this.#unverified.splice(0)) kept.commit(activation)
  }

  #end(report: TransactionReport | undefined): void {
    this.#open--
    this.#host.finished(report)
  }

  async #run(edit: (tx: Transaction) => void): Promise<TransactionReport> {
    this.#host.assertOpen()
    const draft = new Draft(this.#host.world, this.#host.edits)
    draft.run(edit)
    this.#shaken = new Set()
    await this.#host.quiet()
    const failed = failing([...draft.required, ...this.#shaken])
    if (failed.length === 0) {
      this.#verified()
      for (const row of this.#departed.splice(0)) {
        this.#host.edits.release(row)
        await this.#host.quiet()
      }
      return { outcome: 'committed', ...draft.lists }
    }
    const ids = failed.map(({ id }) => id)
    const cause = failed[0]?.failure?.error
    this.#departed = []
    this.#isTakingBack = true
    for (const [kept] of this.#unverified) kept.takeBack()
    draft.takeBack()
    await this.#host.quiet()
    this.#isTakingBack = false
    const rollbackError = failing([...this.#shaken])[0]?.failure?.error
    this.#verified()
    const others = ids.slice(1).map((id) => `; row "${id}" failed too`)
    const lost = rollbackError === undefined ? '' : `; what was there before failed as well: ${rollbackError.message}`
    const what = `rolled back, because ${cause?.message ?? ''}${others.join('')}${lost}`
    const error = new KernelError('ROLLED_BACK', what, { cause, details: ids })
    return { outcome: 'rolled-back', ...draft.lists, error, ...(rollbackError === undefined ? {} : { rollbackError }) }
  }
}

function failing(rows: readonly RowUnit[]): RowUnit[] {
  return [...new Set(rows)].filter((row) => row.wanted && row.phase === 'failed')
}
