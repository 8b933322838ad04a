import { CodedError, capability } from '@tenon/kernel'
import type { Session } from '@tenon/session'

/** Notes of one session each. A session reaches no others, and they end with it. */
export interface SessionNotes {
  /** Gives the note its number, counted from 1. @throws SessionNotesError NOTES_FULL, SESSION_ENDED */
  add(session: Session, text: string): number
  /** In the order in which they were written. */
  list(session: Session): readonly string[]
}
export const SessionNotes = capability<SessionNotes>('session-notes')

export type SessionNotesErrorCode = 'NOTES_FULL' | 'SESSION_ENDED'

/** Messages say what to do; a model may read them. */
export class SessionNotesError extends CodedError<SessionNotesErrorCode> {}
