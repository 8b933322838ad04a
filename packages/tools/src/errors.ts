import { CodedError } from '@tenon/kernel'

export type ToolErrorCode = `TOOL_${
  | 'INVALID'
  | 'ARGUMENTS'
  | 'ABORTED'
  | 'UNAVAILABLE'
  | 'UNKNOWN'
  | 'DENIED'
  | 'MIDDLEWARE'
  | 'FAILED'
  | 'OUTPUT'
  | 'BLOCKED'}`

/** A tool's body may throw it, or any other coded error: code, message and details become those of the result. */
export class ToolError extends CodedError<ToolErrorCode> {}
