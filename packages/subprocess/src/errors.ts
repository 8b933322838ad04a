import { CodedError } from '@tenon/kernel'

export type SubprocessErrorCode =
  /** A spawn spec is malformed; `details.field` names the member. Thrown, before anything is opened or started. */
  | 'SPEC_INVALID'
  /** Nothing was started; `cause` is the very object the platform raised. Rejects `done`. */
  | 'SPAWN_FAILED'
  /** The spec's signal had aborted before the call; `cause` is its reason. Rejects `done`. */
  | 'ABORTED_BEFORE_SPAWN'
  /** The runtime is closing or closed. Rejects `done`. */
  | 'RUNTIME_CLOSED'
  /** An argument of `OutputReader.readFrom` is out of range. Thrown. */
  | 'READ_INVALID'
  /** `resolveExecutable`: an empty name, or a relative path with a separator. */
  | 'EXECUTABLE_INVALID'
  /** `resolveExecutable`: nothing of that name on the search path, or at that absolute path. */
  | 'EXECUTABLE_NOT_FOUND'
  /** `resolveExecutable`: there is something, but it is a directory or not executable. */
  | 'EXECUTABLE_NOT_RUNNABLE'
  /** Reported at close: members of these trees were still alive after KILL and the wait for it. */
  | 'TREE_SURVIVED'

/** What this capability throws, rejects with, and reports. Recognise one by its `code`. */
export class SubprocessError extends CodedError<SubprocessErrorCode> {}
