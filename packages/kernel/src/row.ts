import type { KernelError } from './errors.ts'
import type { Budgets, Plugin } from './plugin.ts'

export type Phase = 'waiting' | 'activating' | 'active' | 'deactivating' | 'failed' | 'unloaded'

export interface LoadOptions {
  /** Default: the plugin's name. */
  readonly id?: string
  /** A transaction stands although this row fails. */
  readonly optional?: boolean
  readonly budgets?: Partial<Budgets>
}

/** One loaded plugin. */
export interface Row {
  readonly id: string
  /** The plugin's name. */
  readonly name: string
  readonly phase: Phase
  /** Resolves when the row is active. Rejects with its failure, or with PLUGIN_UNRESOLVED and the tree of causes once nothing that could help is coming up. */
  ready(): Promise<void>
  /** Equal config is a no-op, except that a failed row is tried again. Resolves like `ready`. Rejects with CONFIG_INVALID without any effect. */
  reconfigure(config: unknown): Promise<void>
  /** Other code under the same id, as a transaction: rejects with ROLLED_BACK after the old code is active again. */
  replace<Input>(plugin: Plugin<Input>, config?: Input): Promise<void>
  /** Resolves when everything is undone and what it kept is disposed. */
  unload(): Promise<void>
}

export type KernelEvent =
  | { readonly type: 'phase'; readonly row: string; readonly phase: Phase; readonly generation: number; readonly error?: Error }
  | { readonly type: 'provided' | 'withdrawn'; readonly row: string; readonly capability: string }
  | { readonly type: 'fault'; readonly row: string; readonly what: string; readonly error: Error }
  | { readonly type: 'transaction'; readonly outcome: 'committed' | 'rolled-back'; readonly error?: KernelError }
