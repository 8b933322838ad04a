import type { Session } from '@tenon/session'
import { CLOSING_MS, type KeptTools, settledWithin } from './kept.ts'

/** Waits for a call in the name of its row and of its session: closing either waits for it too. One hook per session. */
export async function follow<T>(kept: KeptTools, session: Session, running: Promise<T>): Promise<T> {
  let ofSession = kept.sessions.get(session)
  if (ofSession === undefined && !session.scope.closed) {
    const calls = new Set<Promise<unknown>>()
    kept.sessions.set(session, calls)
    session.scope.defer(() => settledWithin(calls, CLOSING_MS))
    ofSession = calls
  }
  kept.inFlight.add(running)
  ofSession?.add(running)
  try {
    return await running
  } finally {
    kept.inFlight.delete(running)
    ofSession?.delete(running)
  }
}
