import { capability } from '@tenon/kernel'
import type { ShellExecution } from './execution.ts'
import type { ShellRequest, ShellSpec } from './request.ts'
import type { SandboxMode } from './sandbox.ts'

/**
 * Runs one command text in one fresh, non-interactive shell process. One provider per kernel. Any plugin that injects `Shell` may
 * call it; the model never reaches it directly.
 *
 * There is one way to execute. Foreground is a property of the wait: `(await shell.execute(spec)).result()`. Who waits only for a
 * while uses `onExpiry: 'none'`, bounds the wait, and keeps the handle.
 *
 * First cause: the deadline, the caller's abort and `kill()` compete; the first before the observed exit is the cause. Only the
 * first two have flags, and nothing that happens later changes them.
 */
export interface Shell {
  /** Deployment mode of a confining executor. Undefined: this executor does not confine. */
  readonly sandboxMode: SandboxMode | undefined
  /**
   * Fills every default and caps the timeout. Pure: it touches neither disk nor clock.
   * @throws ShellError SHELL_BAD_REQUEST, SHELL_BAD_COMMAND, naming the field
   */
  resolve(request: ShellRequest): ShellSpec
  /**
   * The only verb; applies no default and validates again. Resolves once the process runs. Three things resolve with a handle that
   * has settled, `killed` and without exit facts: a signal that had already aborted, a deadline that passed during preparation, and
   * a process that could not be started (its `result()` rejects with SHELL_SPAWN).
   *
   * Rejects with ShellError SHELL_BAD_REQUEST, SHELL_BAD_COMMAND, SHELL_BAD_CWD, SHELL_MISSING or SANDBOX_UNAVAILABLE, or with exactly
   * `signal.reason` if aborted during preparation. Whenever it rejects, nothing runs.
   */
  execute(spec: ShellSpec): Promise<ShellExecution>
}
export const Shell = capability<Shell>('shell')
