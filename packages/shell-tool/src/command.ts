import { isAbsolute, resolve } from 'node:path'
import type { Shell, ShellSpec } from '@tenon/shell'
import type { ShellEnv } from '@tenon/shell-env'
import type { ToolCall } from '@tenon/tools'
import type { ShellToolInput } from './input.ts'

/**
 * The request of a call, made of named fields only: stdin, environment and output limits never come from a model. The executor's
 * `resolve` is the one place of defaults and caps, so its `timeoutMs` is the one to wait for and to report.
 */
export function resolveCommand(
  parts: { readonly shell: Shell; readonly env: ShellEnv },
  input: ShellToolInput,
  call: ToolCall,
  more: { readonly onExpiry: 'kill' | 'none'; readonly signal?: AbortSignal },
): ShellSpec {
  const { command, workdir, timeoutMs } = input
  const { cwd, id } = call.session
  return parts.shell.resolve({
    command,
    workdir: workdir === undefined ? cwd : isAbsolute(workdir) ? workdir : resolve(cwd, workdir),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    managedEnv: parts.env.collect({ sessionId: id }),
    ...more,
  })
}
