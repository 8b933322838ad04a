import { isAbsolute } from 'node:path'
import type { Scope } from '@tenon/kernel'
import { SessionError } from './errors.ts'
import { NoticeQueue } from './notice-queue.ts'
import type { Session, SessionId } from './session.ts'

export interface SessionSpec {
  /** 1 to 128 characters, no control characters: it reaches environments, logs and file names. */
  readonly id: string
  /** Absolute. Need not exist: a command that runs there says so. */
  readonly cwd: string
  /** Without it, notices collect in `notices`. */
  readonly deliver?: Session['deliver']
}

/**
 * For host surfaces: a connection, the console, an agent loop. The session lives in a child scope of `host` and ends with it, or when
 * its own scope is closed.
 * @throws SessionError SESSION_INVALID, KernelError SCOPE_CLOSED
 */
export function openSession(host: Scope, spec: SessionSpec): Session & { readonly notices: NoticeQueue } {
  const { cwd } = spec
  const id = sessionId(spec.id)
  if (typeof cwd !== 'string' || !isAbsolute(cwd) || cwd.includes('\0')) {
    throw new SessionError('SESSION_INVALID', `session "${id}": cwd ${JSON.stringify(cwd)} is not an absolute path`)
  }
  const notices = new NoticeQueue()
  const deliver = spec.deliver ?? ((notice) => notices.push(notice))
  return Object.freeze({ id, cwd, scope: host.child(`session ${id}`), deliver, notices })
}

function sessionId(id: unknown): SessionId {
  const length = typeof id === 'string' ? [...id].length : 0
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what must not get through.
  if (typeof id !== 'string' || length < 1 || length > 128 || /[\x00-\x1f\x7f]/.test(id)) {
    throw new SessionError('SESSION_INVALID', `session id ${JSON.stringify(id)} is not a string of 1 to 128 characters without control characters`)
  }
  return id as SessionId
}
