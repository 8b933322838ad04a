import type { JobView } from '@tenon/jobs'
import { bytesOf, clipBytes } from './clip.ts'
import { text } from './text.ts'

/** `[status: killed, signal: SIGTERM]`, in at most so many bytes: the outcome gives way. */
export function statusOf({ status, detail: { outcome } }: JobView, most = Number.POSITIVE_INFINITY): string {
  const whole = text.status(status, outcome)
  if (outcome === undefined || bytesOf(whole) <= most) return whole
  const rest = bytesOf(whole) - bytesOf(outcome)
  const clipped = clipBytes(outcome, most - rest)
  return clipped === '' ? text.status(status, undefined) : text.status(status, clipped)
}

/** `12s`, `2m14s` or `3h05m`. */
export function ageOf(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1_000)
  const minutes = Math.floor(seconds / 60)
  const two = (count: number): string => String(count).padStart(2, '0')
  if (minutes === 0) return `${seconds}s`
  return minutes < 60 ? `${minutes}m${two(seconds % 60)}s` : `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`
}
