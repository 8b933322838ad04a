import type { Command } from 'commander'
import { describeCommand } from './completed-command.ts'
import { completionBash } from './completion-bash.ts'
import { completionFish } from './completion-fish.ts'

export const COMPLETION_SHELLS = ['bash', 'zsh', 'fish'] as const
export type CompletionShell = (typeof COMPLETION_SHELLS)[number]

/** A script that makes a shell complete the program's commands, options and their choices; catalogs are completed as files. */
export function completionScript(program: Command, shell: CompletionShell): string {
  const root = describeCommand(program, '')
  switch (shell) {
    case 'bash':
      return completionBash(root)
    case 'zsh':
      return `autoload -U +X bashcompinit && bashcompinit\n${completionBash(root)}`
    case 'fish':
      return completionFish(root)
  }
}
