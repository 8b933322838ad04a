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

/**
 * `atEnd` is called in the step in which the end of the job is heard of: its record may be gone in the next.
 * @throws ToolError TOOL_ABORTED; the job lives on
 */
export async function waitForEnd(jobs: Jobs, id: JobId, boundMs: number, call: ToolCall, atEnd: () => void = () => undefined): Promise<Waited> {
  try {
    const { outcome } = await jobs.wait(id, boundMs, call.session, call.signal)
    if (outcome === 'settled') atEnd()
    return { end: outcome === 'settled' ? 'ended' : 'expired' }
  } catch (error) {
    throw isAbortOfWait(error) ? new ToolError('TOOL_ABORTED', text.aborted, { cause: error }) : error
  }
}

/**
 * Waits as `waitForEnd` does, but no longer than to a line that matches, among what is unread first. A match aborts the wait: so it has
 * awaited nothing, and the owner is still told when the job ends.
 */
export async function waitForLine(
  jobs: Jobs,
  id: JobId,
  boundMs: number,
  call: ToolCall,
  { pattern, matcher, atEnd }: { readonly pattern: RegExp; readonly matcher: Matcher; atEnd(): void },
): Promise<Waited> {
  const over = new AbortController()
  const abort = (): void => over.abort()
  call.signal.addEventListener('abort', abort, { once: true })
  if (call.signal.aborted) abort()
  try {
    // Only to learn where what is unread begins.
    const { from } = jobs.readAt(id, 'unread', call.session, 4)
    const lines = new Lines(from)
    const waiting = waitForEnd(jobs, id, boundMs, { ...call, signal: over.signal }, atEnd)
    // Whoever is not listened to any more may still be rejected.
    waiting.catch(() => undefined)
    const followed = jobs.follow(id, { caller: call.session, from: lines.begin, signal: over.signal })
    const search = firstMatch(followed, lines, (seen) => matcher.find(pattern, seen))
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

async function firstMatch(
  followed: AsyncIterable<JobFollow>,
  lines: Lines,
  find: (lines: readonly string[]) => Promise<string | undefined>,
): Promise<string | undefined> {
  for await (const item of followed) {
    if (item.type !== 'output') continue
    const line = await find(lines.add(item.chunks))
    if (line !== undefined) return line
    // A flood comes item after item: others get their turn in between.
    await nextTurn()
  }
  return undefined
}

function isAbortOfWait(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'JOB_WAIT_ABORTED'
}
