import type { Shell, ShellExecution } from '@tenon/shell'
import type { ShellEnv } from '@tenon/shell-env'
import type { Tool, ToolCall } from '@tenon/tools'
import { commandAborted } from './abort-details.ts'
import { resolveCommand } from './command.ts'
import type { ToolDialect } from './dialect.ts'
import { type ShellToolInput, shellToolInput } from './input.ts'
import { reportProgress } from './progress.ts'
import { renderValue } from './render-value.ts'
import { refusals, toolDescription } from './text.ts'
import { type ForegroundValue, foregroundSchema, foregroundValue } from './value.ts'

const OFFERS = { background: false, promotion: false }

/** The plain tool: the command is over when the call is; the deadline ends its whole tree. */
export function foregroundTool(
  dialect: ToolDialect,
  parts: { readonly shell: Shell; readonly env: ShellEnv },
  refusal: 'switchedOff' | 'noRegistry',
): Tool<ReturnType<typeof shellToolInput>, typeof foregroundSchema> {
  return {
    name: dialect.name,
    description: toolDescription(dialect.words.description, OFFERS),
    input: shellToolInput(OFFERS),
    output: foregroundSchema,
    refuses: { run_in_background: (value) => (value === false ? undefined : refusals[refusal]) },
    execute: (input, call) => runInForeground(parts, input, call),
    render: (value) => renderValue(value as ForegroundValue),
  }
}

/** @throws ToolError TOOL_ABORTED, ShellError */
export async function runInForeground(
  parts: { readonly shell: Shell; readonly env: ShellEnv },
  input: ShellToolInput,
  call: ToolCall,
): Promise<ForegroundValue> {
  const spec = resolveCommand(parts, input, call, { onExpiry: 'kill', signal: call.signal })
  let execution: ShellExecution
  try {
    execution = await parts.shell.execute(spec)
  } catch (error) {
    if (call.signal.aborted && error === call.signal.reason) throw commandAborted(undefined)
    throw error
  }
  const stop = call.progress === undefined ? undefined : reportProgress(execution, (line) => call.progress?.(line))
  try {
    const result = await execution.result()
    if (result.aborted) throw commandAborted(execution)
    return foregroundValue(result)
  } finally {
    stop?.()
  }
}
