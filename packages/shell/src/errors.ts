import { CodedError } from '@tenon/kernel'

export type ShellErrorCode =
  /** A request or spec is malformed; `details.field` names the member. Nothing was started. */
  | 'SHELL_BAD_REQUEST'
  /** The command is not a string, or holds a NUL or a lone surrogate. Nothing was started. */
  | 'SHELL_BAD_COMMAND'
  /** The working directory cannot be entered; `cause.code` tells why (ENOENT, ENOTDIR, EACCES). Nothing was started. */
  | 'SHELL_BAD_CWD'
  /** There is no such shell, or it cannot be run; `cause` is the look-up's error. Nothing was started. */
  | 'SHELL_MISSING'
  /** The process could not be started; `cause` is the very object the platform raised. Rejects `result()`. */
  | 'SHELL_SPAWN'
  /** The command may not or could not be confined; it did not run. */
  | 'SANDBOX_UNAVAILABLE'

/** Only "the command could not be run": a non-zero exit, a timeout and an abort are results. Recognise one by its `code`. */
export class ShellError extends CodedError<ShellErrorCode> {}
