import type { Json } from '@tenon/kernel'
import type { CallView, ToolResult } from './call.ts'
import type { Content } from './content.ts'

/** Of all policies together: deny outweighs ask, ask outweighs allow. */
export type Decision = { readonly decision: 'allow' } | { readonly decision: 'deny' | 'ask'; readonly reason: string }

export type Outcome =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly details?: Json }

/** Exactly one key. `value` only for a call that succeeded; it is checked and rendered like the tool's own. `block` drops the value. */
export type After = { readonly content: readonly Content[] } | { readonly value: Json } | { readonly block: string }

/** A policy; hooks run in order of registration. One that throws, hangs or answers nonsense ends the call with TOOL_MIDDLEWARE. */
export interface Middleware {
  readonly name: string
  /** Milliseconds for each hook's own time; time inside `next` and in an approval does not count. Default: the registry's. */
  readonly budgetMs?: number
  before?(call: CallView): Decision | Promise<Decision>
  /** Synchronous; a string denies. Runs after every `before`; nothing overrules it. */
  guard?(call: CallView): string | undefined
  /** `next` once; may replace only the signal, which is fused with the caller's. Returning without `next` short-circuits the body. */
  around?(call: CallView, next: (signal?: AbortSignal) => Promise<Outcome>): Promise<Outcome>
  after?(call: CallView, result: ToolResult): After | undefined | Promise<After | undefined>
}
