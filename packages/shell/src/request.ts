import type { EnvEntries } from '@tenon/subprocess'
import type { SandboxPolicy } from './sandbox.ts'

/** The largest time of a request's deadline in milliseconds: a timer above 2^31 - 1 fires at once. */
export const MAX_TIMEOUT_MS = 2_147_483_647

/** What a caller asks for. Unknown members are SHELL_BAD_REQUEST. */
export interface ShellRequest {
  /** Passed to the shell untouched. Well-formed Unicode without NUL; may be empty. */
  readonly command: string
  /** Absolute. Absent: the deployment's working directory. */
  readonly workdir?: string
  /** Milliseconds, a positive integer; capped at the deployment's maximum. There is no "off" value: use `onExpiry: 'none'`. */
  readonly timeoutMs?: number
  /** `kill` (default): the tree is ended at the deadline. `none`: the deadline bounds preparation only. */
  readonly onExpiry?: 'kill' | 'none'
  /** Abort ends the tree; before the start it prevents it. */
  readonly signal?: AbortSignal
  /** Absent: the deployment's own, or none on an executor that does not confine. */
  readonly sandboxPolicy?: SandboxPolicy
  // For trusted callers in the process only; a tool must never forward these from a model.
  /** Bytes of stdout kept, at least 4 and at most the deployment's spill limit. stderr always uses the deployment's limit. */
  readonly stdoutMaxBytes?: number
  /** Written to standard input, then closed. Absent: the null device. */
  readonly stdin?: string
  /** Laid over the deployment's environment; `undefined` removes. Keys must not start with `TENON_`, in any case. */
  readonly env?: EnvEntries
  /** Facts from `shell-env`; every key starts with `TENON_`. Merged last. */
  readonly managedEnv?: EnvEntries
}

/**
 * A request with every decision made. `signal`, `stdin`, `env` and `managedEnv` are present only when the request had them.
 * Times are integers from 1 to {@link MAX_TIMEOUT_MS}.
 */
export interface ShellSpec extends Omit<ShellRequest, 'workdir' | 'timeoutMs' | 'onExpiry' | 'sandboxPolicy' | 'stdoutMaxBytes'> {
  readonly workdir: string
  readonly timeoutMs: number
  readonly onExpiry: 'kill' | 'none'
  readonly stdoutMaxBytes: number
  /** Null only on an executor that does not confine. */
  readonly sandboxPolicy: SandboxPolicy | null
}
