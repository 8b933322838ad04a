import type { Outcome } from '@tenon/tools'
import type { CallRun } from './call-run.ts'
import type { CallSignal } from './call-signal.ts'
import type { Definition } from './definition.ts'
import { text } from './text.ts'
import { describeThrown } from './thrown.ts'

const ABORTED = { ok: false, code: 'TOOL_ABORTED', message: text.aborted } as const

/**
 * Step 9. Never rejects. After an abort the body may take its grace, then it is abandoned: what it does later is ignored. What it says
 * after the abort of the call is TOOL_ABORTED, with the details of the TOOL_ABORTED it threw.
 */
export function runBody(run: CallRun, definition: Definition, input: unknown, abort: CallSignal): Promise<Outcome> {
  return new Promise((resolve) => {
    let grace: NodeJS.Timeout | undefined
    const end = (outcome: Outcome): void => {
      leave()
      clearTimeout(grace)
      resolve(outcome)
    }
    const leave = abort.onAbort(() => {
      grace = setTimeout(() => {
        run.log.warn(
          { call: run.id, tool: run.tool },
          `tool "${run.tool}" did not end within ${run.config.abortGraceMs} ms of its abort and was left behind`,
        )
        end({ ...ABORTED, details: { abandoned: true } })
      }, run.config.abortGraceMs)
    })
    const execution = new Promise((settle) => {
      settle(definition.execute(input, run.bodyCall(abort.signal)))
    })
    execution.then(
      (value) => end(run.abort.aborted ? ABORTED : { ok: true, value: value as never }),
      (error: unknown) => {
        const { code = 'TOOL_FAILED', message, details } = describeThrown(error)
        const kept = details === undefined ? {} : { details }
        if (run.abort.aborted) end(code === 'TOOL_ABORTED' ? { ...ABORTED, ...kept } : ABORTED)
        else end({ ok: false, code, message, ...kept })
      },
    )
  })
}
