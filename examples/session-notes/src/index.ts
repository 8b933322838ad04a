import { definePlugin } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { z } from 'zod'
import { SessionNotes, SessionNotesError } from './contract.ts'

export { SessionNotes, SessionNotesError, type SessionNotesErrorCode } from './contract.ts'

/** Provides `session-notes`, from memory. */
export default definePlugin({
  name: 'session-notes',
  provides: [SessionNotes],
  config: z.strictObject({ maxNotes: z.int().min(1).default(50).describe('Notes of one session.') }).prefault({}),
  activate(scope) {
    const { maxNotes } = scope.config
    const kept = scope.keep({
      key: 'notes',
      version: 1,
      create: () => new Map<Session, string[]>(),
      dispose: (notes) => notes.clear(),
    })

    function notesOf(session: Session): string[] {
      const known = kept.get(session)
      if (known !== undefined) return known
      if (session.scope.closed) throw new SessionNotesError('SESSION_ENDED', `session "${session.id}" has ended, and its notes with it`)
      const notes: string[] = []
      kept.set(session, notes)
      // In the scope of the session, not of this activation: the notes outlive a reload, and not their owner.
      session.scope.defer(() => void kept.delete(session))
      return notes
    }

    scope.provide(SessionNotes, {
      add(session, text) {
        const notes = notesOf(session)
        if (notes.length >= maxNotes) {
          throw new SessionNotesError('NOTES_FULL', `there are ${notes.length} notes, and no more than ${maxNotes} are kept; go on without`)
        }
        return notes.push(text)
      },
      list: (session) => [...(kept.get(session) ?? [])],
    })
  },
})
