import type { Runtime } from '@tenon/runtime'
import type { Screen } from '../screen.ts'

export interface VerbContext {
  readonly runtime: Runtime
  readonly screen: Screen
  /** Aborts when the person has had enough. */
  readonly signal: AbortSignal
}

/** A command of the console itself. */
export interface Verb {
  readonly name: string
  /** What follows the name in `help`. */
  readonly usage: string
  readonly help: string
  /** What `rest` begins with, for completion. */
  readonly completes?: 'row' | 'row.path' | 'job'
  /** The status: 0, or what went wrong. @throws UsageError, CodedError */
  run(context: VerbContext, rest: string): number | Promise<number>
}
