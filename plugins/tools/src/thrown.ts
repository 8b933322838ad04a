import type { Json } from '@tenon/kernel'
import { copyJson } from './json-copy.ts'
import { text } from './text.ts'

export interface Thrown {
  /** Of a coded error, ours or the platform's. */
  readonly code?: string
  readonly message: string
  readonly details?: Json
}

/** What was thrown, read once and contained: plugins can throw anything, a proxy that throws again included. */
export function describeThrown(thrown: unknown): Thrown {
  try {
    if (typeof thrown === 'string') return { message: thrown.trim() === '' ? text.unprintable : thrown }
    if (typeof thrown === 'number' || typeof thrown === 'boolean') return { message: String(thrown) }
    if (typeof thrown !== 'object' || thrown === null) return { message: text.unprintable }
    const { code, message, name, details } = thrown as { code?: unknown; message?: unknown; name?: unknown; details?: unknown }
    return {
      message: firstOf(message, thrown instanceof Error ? name : undefined) ?? text.unprintable,
      ...(typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? { code } : {}),
      ...detailsOf(details),
    }
  } catch {
    return { message: text.unprintable }
  }
}

function firstOf(...candidates: unknown[]): string | undefined {
  return candidates.find((candidate): candidate is string => typeof candidate === 'string' && candidate.trim() !== '')
}

function detailsOf(details: unknown): { details?: Json } {
  if (details === undefined) return {}
  try {
    return { details: copyJson(details, { maxBytes: 1_048_576, maxDepth: 64, undefinedProperties: 'drop', root: 'details' }) }
  } catch {
    return {}
  }
}
