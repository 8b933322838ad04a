import type { AbortHub } from '@tenon/abort-hub'
import type { Outcome } from '@tenon/tools'
import { runBody } from './body.ts'
import { Budget } from './budget.ts'
import type { CallRun } from './call-run.ts'
import { CallAborted, CallSignal } from './call-signal.ts'
import type { Definition } from './definition.ts'
import { type CallFault, policyFailed, policyOverran } from './faults.ts'
import type { Policy } from './kept.ts'
import { policyProblems } from './text.ts'
import { describeThrown } from './thrown.ts'

/** Steps 8 and 9. @throws CallFault TOOL_MIDDLEWARE, CallAborted */
export function perform(run: CallRun, definition: Definition, input: unknown, hub: AbortHub): Promise<Outcome> {
  const wrappers = run.policies.filter(({ middleware }) => middleware.around !== undefined)
  if (wrappers.length === 0) return runBody(run, definition, input, run.abort)
  return new Chain(run, wrappers, (signals) => {
    const abort = new CallSignal(hub, [run.abort.signal, ...signals])
    const body: Body = {
      abort,
      running: true,
      outcome: runBody(run, definition, input, abort).finally(() => {
        body.running = false
        abort.release()
      }),
    }
    return body
  }).outcome()
}

interface Body {
  readonly abort: CallSignal
  running: boolean
  readonly outcome: Promise<Outcome>
}

/** The wrappers around one body, the first registered outermost. */
class Chain {
  readonly #run: CallRun
  readonly #wrappers: readonly Policy[]
  readonly #start: (signals: readonly AbortSignal[]) => Body
  #body: Body | undefined
  #fault: CallFault | undefined
  #over = false

  constructor(run: CallRun, wrappers: readonly Policy[], start: (signals: readonly AbortSignal[]) => Body) {
    this.#run = run
    this.#wrappers = wrappers
    this.#start = start
  }

  async outcome(): Promise<Outcome> {
    try {
      const outcome = await this.#firstOf()
      // Whatever the wrappers outside a broken one made of it.
      if (this.#fault !== undefined) throw this.#fault
      return outcome
    } finally {
      this.#over = true
      if (this.#body?.running === true) {
        // A wrapper that did not wait for the body: nothing of a call goes on after its result.
        this.#body.abort.abort(new CallAborted())
        await this.#body.outcome
      }
    }
  }

  /** The wrappers' outcome; after an abort they are not waited for any more, only the body within its grace. */
  #firstOf(): Promise<Outcome> {
    return new Promise((resolve, reject) => {
      const leave = this.#run.abort.onAbort(() => {
        if (this.#body === undefined) reject(new CallAborted())
        else void this.#body.outcome.then(resolve)
      })
      void this.#step(0, []).then((outcome) => {
        leave()
        resolve(outcome)
      })
    })
  }

  /** Never rejects: a wrapper sees the failure of an inner one as an outcome. */
  #step(index: number, signals: readonly AbortSignal[]): Promise<Outcome> {
    const policy = this.#wrappers[index]
    if (policy === undefined) {
      this.#body = this.#start(signals)
      return this.#body.outcome
    }
    return new Promise((resolve) => {
      const fail = (fault: CallFault): void => {
        this.#fault ??= fault
        end({ ok: false, code: fault.code, message: fault.message })
      }
      const ms = policy.budgetMs ?? this.#run.config.middlewareBudgetMs
      const budget = new Budget(ms, this.#run.now, () => fail(policyOverran(policy, ms)))
      const leave = this.#run.abort.onAbort(() => budget.pause())
      let state: 'fresh' | 'used' | 'ended' = 'fresh'
      const end = (outcome: Outcome): void => {
        state = 'ended'
        leave()
        budget.pause()
        resolve(outcome)
      }
      const next = (replacement?: AbortSignal): Promise<Outcome> => {
        if (state === 'ended' || this.#over || this.#run.abort.aborted) throw new Error(policyProblems.lateNext)
        if (state === 'used') throw new Error(policyProblems.secondNext)
        state = 'used'
        budget.pause()
        return this.#step(index + 1, replacement === undefined ? signals : [...signals, replacement]).finally(() => {
          if (state !== 'ended' && !this.#run.abort.aborted) budget.run()
        })
      }
      budget.run()
      const wrapped = new Promise((settle) => {
        settle(policy.middleware.around?.(this.#run.view, next))
      })
      wrapped.then(readOutcome).then(end, (error: unknown) => fail(policyFailed(policy, error)))
    })
  }
}

function readOutcome(answer: unknown): Outcome {
  if (typeof answer === 'object' && answer !== null) {
    const { ok, value, code, message, details } = answer as Record<string, unknown>
    if (ok === true) return { ok, value: value as never }
    if (ok === false && typeof code === 'string' && typeof message === 'string') {
      const kept = describeThrown({ message, details }).details
      return { ok, code, message, ...(kept === undefined ? {} : { details: kept }) }
    }
  }
  throw new Error(policyProblems.around)
}
