export { SessionError, type SessionErrorCode } from './errors.ts'
export { NoticeQueue } from './notice-queue.ts'
export { openSession, type SessionSpec } from './open-session.ts'
export type { Notice, Session, SessionId } from './session.ts'
