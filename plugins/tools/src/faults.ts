import { CodedError, type Json } from '@tenon/kernel'
import type { Problem } from './argument-problems.ts'
import type { Policy } from './kept.ts'
import { text } from './text.ts'
import { describeThrown } from './thrown.ts'

/** How a call ended short of success. `details` are for hosts and logs. */
export interface Fault {
  readonly code: string
  readonly message: string
  readonly details?: Json
}

/** Ends the call wherever it is thrown. */
export class CallFault extends CodedError {
  readonly #own = true

  /** Not `instanceof`, for the same reason as with an abort. */
  static is(thrown: unknown): thrown is CallFault {
    return typeof thrown === 'object' && thrown !== null && #own in thrown
  }
}

export function badArguments(problems: readonly Problem[]): CallFault {
  const issues = problems.map(({ path, message }) => ({ path, message }))
  return new CallFault('TOOL_ARGUMENTS', problems.map(({ line }) => line).join('\n'), { details: { issues } })
}

export function policyFailed(policy: Policy, thrown: unknown): CallFault {
  return new CallFault('TOOL_MIDDLEWARE', text.policyFailed(policy.name, describeThrown(thrown).message), { cause: thrown })
}

export function policyOverran(policy: Policy, budgetMs: number): CallFault {
  return new CallFault('TOOL_MIDDLEWARE', text.policyOverran(policy.name, budgetMs))
}

/** What is wrong with the value is for hosts: the model cannot mend the tool. */
export function badResult(tool: string, thrown: unknown): CallFault {
  return new CallFault('TOOL_OUTPUT', text.invalidResult(tool), { cause: thrown, details: { problem: describeThrown(thrown).message } })
}

export function denied(message: string): CallFault {
  return new CallFault('TOOL_DENIED', message)
}
