import { CodedError } from '@tenon/kernel'

export type ShellEnvErrorCode =
  /** A contributor's name is not one kebab-case word. */
  | 'NAME_INVALID'
  /** Another contributor of that name is registered. */
  | 'NAME_TAKEN'
  /** A key is not `TENON_` and upper-case words, or its description is blank. */
  | 'KEY_INVALID'
  /** The key is a built-in one. */
  | 'KEY_RESERVED'
  /** Another contributor declared the key; the message names both. */
  | 'KEY_TAKEN'

/** Thrown by `register`, which then has had no effect. Recognise one by its `code`. */
export class ShellEnvError extends CodedError<ShellEnvErrorCode> {}
