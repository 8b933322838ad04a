import { definePlugin } from '@tenon/kernel'
import { Shell } from '@tenon/shell'
import { z } from 'zod'
import { GuardedShell, GuardedShellError } from './contract.ts'

export { type GuardedCommand, GuardedShell, GuardedShellError } from './contract.ts'

const rule = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .refine(isPattern, { error: 'is not a regular expression' })
    .describe('A regular expression, matched anywhere in the command.'),
  why: z.string().min(1).describe('What the model is told.'),
})

/** Provides `guarded-shell` over `shell`. */
export default definePlugin({
  name: 'guarded-shell',
  inject: [Shell],
  provides: [GuardedShell],
  config: z
    .strictObject({
      refuse: z.array(rule).default([]).describe('Commands that are not run.'),
      timeoutMs: z.int().min(1).default(30_000).describe('Of a command.'),
    })
    .prefault({}),
  activate(scope, shell) {
    const { timeoutMs } = scope.config
    const rules = scope.config.refuse.map(({ pattern, why }) => ({ pattern: new RegExp(pattern, 'u'), why }))
    scope.provide(GuardedShell, {
      async run({ command, workdir, signal }) {
        const broken = rules.find(({ pattern }) => pattern.test(command))
        if (broken !== undefined) throw new GuardedShellError('COMMAND_REFUSED', `this command is not run here: ${broken.why}`)
        const execution = await shell.execute(shell.resolve({ command, workdir, timeoutMs, signal }))
        return await execution.result()
      },
    })
  },
})

function isPattern(text: string): boolean {
  try {
    new RegExp(text, 'u')
    return true
  } catch {
    return false
  }
}
