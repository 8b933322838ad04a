import { type Capability, type Cause, didYouMean, Kernel, type KernelOptions, type Plugin, type Row, Scope } from '@tenon/kernel'

import { HarnessError } from './errors.ts'
import { describeLeftover, type Leftover } from './leftover.ts'
import { type Listened, ListenerWatch } from './listener-watch.ts'
import { ResourceWatch } from './resource-watch.ts'
import { type HarnessRow, loadInto } from './row.ts'
import { silentLogger } from './silent-logger.ts'

export interface HarnessOptions extends KernelOptions {
  /** Ids of rows that need not be active, because the test is about that. */
  readonly inactive?: readonly string[]
  /** How long after the close timers, handles and processes may take to go, in milliseconds. Default 500. */
  readonly graceMs?: number
}

/** What a row reported: an undo that failed, a listener that threw. */
export interface HarnessFault {
  readonly row: string
  readonly what: string
  readonly error: Error
}

/**
 * Loads the plugins into a kernel of their own and waits until everything has settled.
 *
 *     await using app = await harness([providing(Clock, clock), row(myPlugin, { timeoutMs: 50 })])
 *
 * One at a time in a process: what another test makes meanwhile would count as well. Budgets default to 5 s for an activation and 2 s
 * for an undo; nothing is logged unless a logger is given.
 * @throws HarnessError ROW_NOT_ACTIVE with the tree of causes of every row that is not active; everything is closed then
 * @throws KernelError for what `load` refuses
 */
export async function harness(rows: Iterable<Plugin<undefined> | HarnessRow>, options: HarnessOptions = {}): Promise<Harness> {
  const app = new Harness(options)
  try {
    await app.load(...rows)
    return app
  } catch (error) {
    // What it left behind comes second to why it did not come up.
    await app.close().catch(() => undefined)
    throw error
  }
}

/** A running composition in a test. Closing it rejects when anything is left behind. */
export class Harness implements AsyncDisposable {
  readonly kernel: Kernel
  readonly #inactive: ReadonlySet<string>
  readonly #graceMs: number
  readonly #scope = new Scope('harness')
  readonly #resources = new ResourceWatch()
  readonly #listeners = new ListenerWatch()
  #faults: HarnessFault[] = []
  #closing: Promise<void> | undefined

  constructor({ inactive = [], graceMs = 500, logger = silentLogger, budgets }: HarnessOptions = {}) {
    this.kernel = new Kernel({ logger, budgets: { activationMs: 5000, undoMs: 2000, ...budgets } })
    this.#inactive = new Set(inactive)
    this.#graceMs = graceMs
    this.#listeners.watch('the kernel’s events', this.kernel.events)
    this.kernel.events.on(this.#scope, (event) => {
      if (event.type === 'fault') this.#faults.push({ row: event.row, what: event.what, error: event.error })
    })
  }

  /**
   * Loads more rows, and settles.
   * @throws HarnessError ROW_NOT_ACTIVE
   */
  async load(...rows: readonly (Plugin<undefined> | HarnessRow)[]): Promise<void> {
    for (const one of rows) loadInto(this.kernel, one)
    await this.settled()
  }

  /**
   * Resolves when no transition is due and every row is active, those named in `inactive` excepted.
   * @throws HarnessError ROW_NOT_ACTIVE
   */
  async settled(): Promise<void> {
    await this.kernel.settled()
    const ids = this.kernel.inspect().rows.flatMap(({ id, phase }) => (phase === 'active' || this.#inactive.has(id) ? [] : [id]))
    if (ids.length === 0) return
    const trees = ids.map((id) => tree(this.kernel.explain(id)))
    throw new HarnessError('ROW_NOT_ACTIVE', `not active: ${ids.join(', ')}\n${trees.join('\n')}`, { details: ids })
  }

  /**
   * The current value of a capability.
   * @throws HarnessError NOT_LOADED
   */
  get<T>(token: Capability<T>): T {
    const value = this.kernel.get(token)
    if (value === undefined) throw new HarnessError('NOT_LOADED', `nothing provides "${token.key}" here; load a plugin that does, or providing(…)`)
    return value
  }

  /** @throws HarnessError NOT_LOADED */
  row(id: string): Row {
    const found = this.kernel.row(id)
    if (found !== undefined) return found
    const ids = this.kernel.inspect().rows.map((one) => one.id)
    const meant = didYouMean(id, ids)
    throw new HarnessError('NOT_LOADED', `no row "${id}" here; ${meant === undefined ? `there are: ${ids.join(', ')}` : `did you mean "${meant}"?`}`)
  }

  /** Counts the listeners of an emitter too: at the close it may not have more than now. */
  watch(name: string, emitter: Listened): void {
    this.#listeners.watch(name, emitter)
  }

  /** The faults reported so far, which then no longer fail the close: for tests that provoke them. */
  takeFaults(): readonly HarnessFault[] {
    const taken = this.#faults
    this.#faults = []
    return taken
  }

  /**
   * Closes the kernel, then looks for what is left. Child processes that were left behind are killed once they have been noted.
   * @throws HarnessError LEFT_BEHIND
   */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    await this.kernel.close()
    await this.#scope.close()
    const left = [...this.#faults.map(leftOf), ...this.#listeners.left(), ...(await this.#resources.left(this.#graceMs))]
    this.#resources.stop()
    if (left.length === 0) return
    const details = left.map(({ kind, what, where }) => ({ kind, what, where: where ?? null }))
    throw new HarnessError('LEFT_BEHIND', `left behind:\n${left.map((one) => `  ${describeLeftover(one)}`).join('\n')}`, { details })
  }
}

function leftOf({ row, what, error }: HarnessFault): Leftover {
  const isEffect = what === 'undo' || what === 'dispose' || what === 'spawned work'
  return { kind: isEffect ? 'effect' : 'fault', what: `${what} of row "${row}": ${error.message}` }
}

function tree({ message, causes }: Cause, indent = '  '): string {
  return [indent + message, ...causes.map((cause) => tree(cause, `${indent}  `))].join('\n')
}
