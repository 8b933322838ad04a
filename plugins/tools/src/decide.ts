import { thenable } from './at-once.ts'
import type { CallRun } from './call-run.ts'
import { CallAborted } from './call-signal.ts'
import { denied, policyFailed } from './faults.ts'
import { readDecision, runHook } from './hooks.ts'
import type { Approver } from './kept.ts'
import { policyProblems, text } from './text.ts'
import { describeThrown } from './thrown.ts'

/** Steps 6 and 7: returns if the body may run. @throws CallFault, CallAborted */
export async function decide(run: CallRun): Promise<void> {
  const denials: string[] = []
  const questions: string[] = []
  for (const policy of run.policies) {
    if (policy.middleware.before === undefined) continue
    goOn(run)
    const answer = await runHook(run, policy, () => policy.middleware.before?.(run.view))
    try {
      const decided = readDecision(answer)
      if (decided.decision === 'deny') denials.push(decided.reason)
      else if (decided.decision === 'ask') questions.push(decided.reason)
    } catch (error) {
      throw policyFailed(policy, error)
    }
  }
  goOn(run)
  if (denials.length > 0) throw denied(text.denied(denials.join('; ')))
  if (questions.length > 0) await ask(run, questions.join('; '))
  guard(run)
}

/** A synchronous hook may have aborted the call: nobody is asked after that. @throws CallAborted */
function goOn(run: CallRun): void {
  if (run.abort.aborted) throw new CallAborted()
}

function guard(run: CallRun): void {
  for (const policy of run.policies) {
    if (policy.middleware.guard === undefined) continue
    goOn(run)
    let answer: unknown
    try {
      answer = policy.middleware.guard(run.view)
      if (answer === undefined) continue
      thenable(answer)?.then(undefined, () => undefined)
      if (typeof answer !== 'string') throw new Error(policyProblems.guard)
    } catch (error) {
      throw policyFailed(policy, error)
    }
    throw denied(text.denied(answer as string))
  }
}

/** One question, whatever the number of policies that ask. Everything but `granted` denies. */
async function ask(run: CallRun, reason: string): Promise<void> {
  // Whoever can be asked may be about to come back from a reload.
  if (run.approver === undefined) await run.rest()
  goOn(run)
  const { approver } = run
  if (approver === undefined) throw denied(text.nobodyToAsk(reason))
  let answer: unknown
  try {
    answer = await run.abort.race(answerOf(run, approver, reason))
  } catch (error) {
    if (CallAborted.is(error)) throw error
    run.log.warn({ call: run.id, tool: run.tool }, `the approval failed: ${describeThrown(error).message}`)
    throw denied(text.nobodyToAsk(reason))
  }
  if (answer === 'granted') return
  if (answer === 'rejected') throw denied(text.rejected(reason))
  if (answer === 'cancelled') throw denied(text.approvalCancelled)
  throw denied(text.nobodyToAsk(reason))
}

/** `cancelled` if the provider leaves while it is asked. */
async function answerOf(run: CallRun, approver: Approver, reason: string): Promise<unknown> {
  const gone = approver.gone.signal
  let left = (): void => undefined
  const leaving = new Promise<'cancelled'>((resolve) => {
    left = () => resolve('cancelled')
  })
  gone.addEventListener('abort', left)
  try {
    return await Promise.race([approver.approval.ask(Object.freeze({ ...run.view, reason })), leaving])
  } finally {
    gone.removeEventListener('abort', left)
  }
}
