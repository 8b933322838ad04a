import { CodedError, capability } from '@tenon/kernel'
import type { ShellResult } from '@tenon/shell'

export interface GuardedCommand {
  readonly command: string
  /** Absolute. */
  readonly workdir: string
  /** Ends the command. */
  readonly signal: AbortSignal
}

/** Commands that no rule of the deployment refuses. */
export interface GuardedShell {
  /**
   * The facts of the command once it has ended, whatever they are.
   * @throws GuardedShellError COMMAND_REFUSED before anything has run; ShellError as `Shell` does
   */
  run(request: GuardedCommand): Promise<ShellResult>
}
export const GuardedShell = capability<GuardedShell>('guarded-shell')

/** The message names the rule's reason; a model reads it. */
export class GuardedShellError extends CodedError<'COMMAND_REFUSED'> {}
