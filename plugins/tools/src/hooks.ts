import type { Decision } from '@tenon/tools'
import { thenable } from './at-once.ts'
import { Budget } from './budget.ts'
import type { CallRun } from './call-run.ts'
import { CallAborted } from './call-signal.ts'
import { policyFailed, policyOverran } from './faults.ts'
import type { Policy } from './kept.ts'
import { policyProblems } from './text.ts'

/** Runs one hook within its policy's budget. @throws CallFault TOOL_MIDDLEWARE naming the policy; CallAborted */
export async function runHook(run: CallRun, policy: Policy, hook: () => unknown): Promise<unknown> {
  let returned: unknown
  let late: PromiseLike<unknown> | undefined
  try {
    returned = hook()
    late = thenable(returned)
  } catch (error) {
    throw policyFailed(policy, error)
  }
  return late === undefined ? returned : withinBudget(run, policy, late)
}

function withinBudget(run: CallRun, policy: Policy, late: PromiseLike<unknown>): Promise<unknown> {
  const ms = policy.budgetMs ?? run.config.middlewareBudgetMs
  return new Promise((resolve, reject) => {
    const budget = new Budget(ms, run.now, () => fail(policyOverran(policy, ms)))
    const leave = run.abort.onAbort(() => fail(new CallAborted()))
    const end = (): void => {
      leave()
      budget.pause()
    }
    const fail = (error: Error): void => {
      end()
      reject(error)
    }
    budget.run()
    late.then(
      (value) => {
        end()
        resolve(value)
      },
      (error: unknown) => fail(policyFailed(policy, error)),
    )
  })
}

/** @throws what makes the answer no decision */
export function readDecision(answer: unknown): Decision {
  if (typeof answer === 'object' && answer !== null) {
    const { decision, reason } = answer as { decision?: unknown; reason?: unknown }
    if (decision === 'allow') return { decision }
    if ((decision === 'deny' || decision === 'ask') && typeof reason === 'string') return { decision, reason }
  }
  throw new Error(policyProblems.before)
}
