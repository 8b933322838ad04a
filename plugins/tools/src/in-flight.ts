import type { Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { CLOSING_MS, type KeptTools, settledWithin } from './kept.ts'

/** The calls of one session. */
export interface SessionCalls {
  /** Ends with the session: the one hook the registry has there. A child, so that an ended registry leaves nothing behind. */
  readonly life: Scope
  readonly running: Set<Promise<unknown>>
}

/** Waits for a call in the name of its row and of its session: closing either waits for it too. */
export async function follow<T>(kept: KeptTools, session: Session, running: Promise<T>): Promise<T> {
  const ofSession = kept.sessions.get(session) ?? openCalls(kept, session)
  kept.inFlight.add(running)
  ofSession?.running.add(running)
  try {
    return await running
  } finally {
    kept.inFlight.delete(running)
    ofSession?.running.delete(running)
  }
}

/** None for a session, or a registry, that is closing: its calls are over before they have begun. */
function openCalls(kept: KeptTools, session: Session): SessionCalls | undefined {
  if (session.scope.closed || kept.ending.signal.aborted) return undefined
  const calls: SessionCalls = { life: session.scope.child('calls'), running: new Set() }
  calls.life.defer(async () => {
    await settledWithin(calls.running, CLOSING_MS)
    kept.sessions.delete(session)
  })
  kept.sessions.set(session, calls)
  return calls
}
