import type { AppliedEdit, Runtime } from '@tenon/runtime'
import type { CommandContext } from './context.ts'
import { failureText } from './failure.ts'
import { plainText } from './terminal-text.ts'

/** Tells of the edits that watched files bring about. */
export function followEdits(
  runtime: Runtime,
  { screen, io, flags }: CommandContext,
  { tell, warn }: Readonly<Record<'tell' | 'warn', (text: string) => void>>,
): void {
  runtime.events.on(runtime.kernel.scope, (event) => {
    if (event.type === 'refused') warn(failureText(event.error, screen, { debug: flags.debug === true, cwd: io.cwd }))
    else if (event.edit.rolledBack !== undefined) warn(describeFailure(event.edit.rolledBack, event.edit))
    else if (!changedNothing(event.edit)) tell(describeEdit(event.edit))
  })
}

/** The message of a roll-back begins with the word that is painted here. */
export function describeFailure({ message }: Error, { stands }: Pick<AppliedEdit, 'stands'>, paint = (text: string): string => text): string {
  return `${paint(stands === true ? 'failed' : 'rolled back')}, ${plainText(message.replace(/^rolled back, /, ''))}`
}

function changedNothing({ added, removed, reconfigured, replaced }: AppliedEdit): boolean {
  return [added, removed, reconfigured, replaced].every((ids) => ids.length === 0)
}

export function describeEdit({ added, removed, reconfigured, replaced, untouched }: AppliedEdit): string {
  const parts = Object.entries({ added, removed, reconfigured, replaced }).flatMap(([what, ids]) =>
    ids.length === 0 ? [] : [`${what} ${ids.join(', ')}`],
  )
  return `${parts.length === 0 ? 'nothing changed' : parts.join('; ')}; ${untouched.length} untouched`
}
