import type { KernelError } from './errors.ts'
import type { Plugin } from './plugin.ts'
import type { LoadOptions } from './row.ts'

/** The edits of one transaction. Every method throws on bad input, and then nothing at all happens. */
export interface Transaction {
  load<Input>(plugin: Plugin<Input>, config?: Input, options?: LoadOptions): void
  unload(id: string): void
  reconfigure(id: string, config: unknown): void
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
  /** ROLLED_BACK; its `cause` is why. */
  readonly error?: KernelError
  /** Set when what was there before could not be brought back either. */
  readonly rollbackError?: Error
}
