import { definePlugin } from '@tenon/kernel'
import { renderResult } from '@tenon/shell'
import { ToolError, Tools } from '@tenon/tools'
import { z } from 'zod'
import { GuardedShell } from './contract.ts'

/** What the model gets of a command, and what it is rendered from. */
const output = z.strictObject({ exitCode: z.int().nullable(), signal: z.string().nullable(), timedOut: z.boolean(), text: z.string() })

/** Offers `guarded-shell` to models. */
export default definePlugin({
  name: 'tool-guarded-shell',
  inject: [GuardedShell, Tools],
  activate(scope, shell, tools) {
    tools.register(scope, {
      name: 'run',
      description: 'Run a command in a fresh shell. Some commands are refused; the refusal says why.',
      input: z.strictObject({ command: z.string().min(1).describe('The command.') }),
      output,
      async execute({ command }, { session, signal }) {
        const result = await shell.run({ command, workdir: session.cwd, signal })
        if (result.aborted) throw new ToolError('TOOL_ABORTED', 'the call was cancelled, and the command ended')
        const { exitCode, signal: killedBy, timedOut } = result
        return { exitCode, signal: killedBy, timedOut, text: renderResult(result) }
      },
      render: ({ text }) => [{ type: 'text', text }],
    })
  },
})
