import type { ToolResult } from '@tenon/tools'
import { atOnce } from './at-once.ts'
import type { CallRun } from './call-run.ts'
import { CallAborted } from './call-signal.ts'
import { copyContent } from './content.ts'
import type { Definition } from './definition.ts'
import { badResult } from './faults.ts'

/** Steps 10 and 11: a value as a result. @throws CallFault TOOL_OUTPUT, CallAborted */
export async function shape(run: CallRun, definition: Definition, value: unknown): Promise<ToolResult> {
  try {
    const checking = definition.check(value)
    const checked = checking instanceof Promise ? await run.abort.race(checking) : checking
    return run.success(checked, copyContent(atOnce(definition.render(checked))))
  } catch (error) {
    if (CallAborted.is(error)) throw error
    throw badResult(run.tool, error)
  }
}
