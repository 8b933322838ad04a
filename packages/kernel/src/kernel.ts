import type { Logger } from 'pino'
import type { Capability } from './capability.ts'
import type { Emitter } from './emitter.ts'
import type { Budgets, Plugin } from './plugin.ts'
import type { Cause, KernelReport } from './report.ts'
import type { KernelEvent, LoadOptions, Row } from './row.ts'
import type { Scope } from './scope.ts'
import type { Transaction, TransactionReport } from './transaction.ts'

export interface KernelOptions {
  readonly logger?: Logger
  readonly budgets?: Partial<Budgets>
}

export declare class Kernel implements AsyncDisposable {
  constructor(options?: KernelOptions)
  readonly scope: Scope
  readonly events: Emitter<KernelEvent>
  load<Input>(
    plugin: Plugin<Input>,
    ...rest: undefined extends Input ? [config?: Input, options?: LoadOptions] : [config: Input, options?: LoadOptions]
  ): Row
  row(id: string): Row | undefined
  transaction(edit: (tx: Transaction) => void): Promise<TransactionReport>
  get<T>(capability: Capability<T>): T | undefined
  settled(): Promise<void>
  inspect(): KernelReport
  explain(id: string): Cause
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}
