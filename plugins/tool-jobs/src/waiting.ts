import { setImmediate as nextTurn } from 'node:timers/promises'
import type { JobFollow, JobId, Jobs } from '@tenon/jobs'
import { type ToolCall, ToolError } from '@tenon/tools'
import { Lines } from './lines.ts'
import type { Matcher } from './matcher.ts'
import { text } from './text.ts'

export interface Waited {
  /** `ended`: the job has. */
  readonly end: 'ended' | 'expired' | 'matched'
  readonly line?: string
}

/** @throws ToolError TOOL_ABORTED; the job lives on */
export async function waitForEnd(jobs: Jobs, id: JobId, boundMs: number, call: ToolCall): Promise<Waited> {
  try {
    const { outcome } = await jobs.wait(id, boundMs, call.session, call.signal)
    return { end: outcome === 'settled' ? 'ended' : 'expired' }
  } catch (error) {
    throw isAbortOfWait(error) ? new ToolError('TOOL_ABORTED', text.aborted, { cause: error }) : error
  }
}

/**
 * Waits as `waitForEnd` does, but no longer than to a line that matches, among what is unread first. A match aborts the wait: so it has
 * awaited nothing, and the owner is still told when the job ends.
 */
export async function waitForLine(jobs: Jobs, id: JobId, boundMs: number, call: ToolCall, pattern: RegExp, matcher: Matcher): Promise<Waited> {
  const over = new AbortController()
  const abort = (): void => over.abort()
  call.signal.addEventListener('abort', abort, { once: true })
  if (call.signal.aborted) abort()
  try {
    // Only to learn where what is unread begins.
    const { from } = jobs.readAt(id, 'unread', call.session, 4)
    const waiting = waitForEnd(jobs, id, boundMs, { ...call, signal: over.signal })
    // Whoever is not listened to any more may still be rejected.
    waiting.catch(() => undefined)
    const search = firstMatch(jobs.follow(id, { caller: call.session, from, signal: over.signal }), pattern, matcher)
    const match = search.then((line): Waited | undefined => (line === undefined ? undefined : { end: 'matched', line }))
    match.catch(() => undefined)
    const first = await Promise.race([waiting, match.then((found) => found ?? waiting)])
    // The job has ended: what it wrote before is still to be looked at.
    return first.end === 'ended' ? ((await match) ?? first) : first
  } finally {
    call.signal.removeEventListener('abort', abort)
    over.abort()
  }
}

async function firstMatch(followed: AsyncIterable<JobFollow>, pattern: RegExp, matcher: Matcher): Promise<string | undefined> {
  const lines = new Lines()
  for await (const item of followed) {
    if (item.type !== 'output') continue
    const line = await matcher.find(pattern, lines.add(item.chunks))
    if (line !== undefined) return line
    // A flood comes item after item: others get their turn in between.
    await nextTurn()
  }
  return undefined
}

function isAbortOfWait(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'JOB_WAIT_ABORTED'
}
