import { text } from './text.ts'

/** What was thrown, as a message: producers can throw anything, a proxy that throws again included. */
export function messageOf(thrown: unknown): string {
  try {
    const message = typeof thrown === 'object' && thrown !== null ? (thrown as { message?: unknown }).message : thrown
    if (typeof message === 'number' || typeof message === 'boolean') return String(message)
    return typeof message === 'string' && message.trim() !== '' ? message : text.unprintable
  } catch {
    return text.unprintable
  }
}
