import type { Notice } from './session.ts'

/** The model reads it in place of what the queue could not hold. */
export function droppedNotice(count: number): Notice {
  const text = `[${count} earlier notices dropped]`
  return Object.freeze({ source: 'session', text, summary: text })
}
