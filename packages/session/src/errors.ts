import { CodedError } from '@tenon/kernel'

export type SessionErrorCode = 'SESSION_INVALID'

/** Messages name the field and say what it takes. */
export class SessionError extends CodedError<SessionErrorCode> {}
