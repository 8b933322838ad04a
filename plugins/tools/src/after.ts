import type { ToolResult } from '@tenon/tools'
import type { CallRun } from './call-run.ts'
import { CallAborted } from './call-signal.ts'
import { copyContent } from './content.ts'
import type { Definition } from './definition.ts'
import { CallFault, policyFailed } from './faults.ts'
import { runHook } from './hooks.ts'
import type { Policy } from './kept.ts'
import { shape } from './shape.ts'
import { policyProblems, text } from './text.ts'

/** Step 12. A policy that fails here withholds the value. @throws CallFault TOOL_MIDDLEWARE, CallAborted for a call that had succeeded */
export async function applyAfter(run: CallRun, definition: Definition, first: ToolResult): Promise<ToolResult> {
  let result = first
  for (const policy of run.policies) {
    if (policy.middleware.after === undefined) continue
    try {
      const seen = result
      const answer = await runHook(run, policy, () => policy.middleware.after?.(run.view, seen))
      if (answer !== undefined) result = await change(run, definition, policy, result, answer)
    } catch (error) {
      // What had failed before the abort stays what it was.
      if (CallAborted.is(error) && result.isError) return result
      throw error
    }
  }
  return result
}

async function change(run: CallRun, definition: Definition, policy: Policy, result: ToolResult, answer: unknown): Promise<ToolResult> {
  let wanted: Change
  try {
    wanted = readChange(answer)
    if (wanted.kind === 'value' && result.isError) throw new Error(policyProblems.valueOfFailed)
    if (wanted.kind === 'content') return run.shownAs(result, copyContent(wanted.content))
  } catch (error) {
    throw policyFailed(policy, error)
  }
  if (wanted.kind === 'block') return run.failure(new CallFault('TOOL_BLOCKED', text.blocked(wanted.feedback)))
  try {
    return await shape(run, definition, wanted.value)
  } catch (error) {
    if (CallFault.is(error)) return run.failure(error)
    throw error
  }
}

type Change =
  | { readonly kind: 'content'; readonly content: unknown }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'block'; readonly feedback: string }

function readChange(answer: unknown): Change {
  const entries = typeof answer === 'object' && answer !== null ? Object.entries(answer) : []
  const [key, given] = entries.length === 1 ? (entries[0] ?? []) : []
  if (key === 'content') return { kind: 'content', content: given }
  if (key === 'value') return { kind: 'value', value: given }
  if (key === 'block' && typeof given === 'string') return { kind: 'block', feedback: given }
  throw new Error(policyProblems.after)
}
