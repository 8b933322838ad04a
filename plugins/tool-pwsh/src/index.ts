import { definePlugin } from '@tenon/kernel'
import { Shell } from '@tenon/shell'
import { ShellEnv } from '@tenon/shell-env'
import { installShellTool, pwshDialect, ShellToolConfig } from '@tenon/shell-tool'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'

/** The pwsh tool: runs commands with whatever executor provides `shell`, as jobs while a job registry is there. */
export default definePlugin({
  name: 'tool-pwsh',
  inject: [Shell, Tools, SystemPrompt, ShellEnv],
  config: ShellToolConfig,
  activate(scope, shell, tools, prompt, env) {
    installShellTool(scope, pwshDialect, { shell, tools, prompt, env })
  },
})
