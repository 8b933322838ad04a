import { Jobs } from '@tenon/jobs'
import type { AnyCapability, PluginScope } from '@tenon/kernel'
import type { Shell } from '@tenon/shell'
import type { ShellEnv } from '@tenon/shell-env'
import type { SystemPrompt } from '@tenon/system-prompt'
import type { Tools } from '@tenon/tools'
import type { ShellToolConfig } from './config.ts'
import type { ToolDialect } from './dialect.ts'
import { foregroundTool } from './foreground.ts'
import { jobBackedTool } from './job-backed.ts'

export interface ShellToolParts {
  readonly shell: Shell
  readonly tools: Tools
  readonly prompt: SystemPrompt
  readonly env: ShellEnv
}

const SECTION_ORDER = 105

/**
 * Registers the tool of a dialect and its prompt section, for as long as the scope is open. While jobs can start, which takes a
 * registry and a controller, the variant that makes jobs of commands is stacked over the plain one: the tool is never absent, nothing has
 * to be put back, and no model reads of a background that would be refused.
 */
export function installShellTool<Offers extends AnyCapability>(
  scope: PluginScope<ShellToolConfig, Offers>,
  dialect: ToolDialect,
  parts: ShellToolParts,
): void {
  const { enableRunInBackground, promoteOnTimeout } = scope.config
  const { shell, env } = parts
  parts.prompt.section(scope, { name: `tool:${dialect.name}`, order: SECTION_ORDER, text: dialect.words.section })
  parts.tools.register(scope, foregroundTool(dialect, parts, enableRunInBackground ? 'noRegistry' : 'switchedOff'))
  if (!enableRunInBackground) return
  scope.inject([Jobs], (fork, jobs) => {
    jobs.whileControlled(fork, (branch) => {
      parts.tools.register(branch, jobBackedTool(dialect, { shell, env, jobs, log: fork.log }, promoteOnTimeout))
    })
  })
}
