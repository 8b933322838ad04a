import { setTimeout as pause } from 'node:timers/promises'
import type { JobFollow, JobId, Jobs, JobView, Offsets } from '@tenon/jobs'
import { INTERVAL_MS, LOOK_BACK_BYTES, NewestLine } from '@tenon/newest-line'
import type { ToolCall } from '@tenon/tools'

/**
 * Tells the newest line of a job's output, what is there already first, until the returned function is called; as a command's own call
 * does. Moves nothing. What fails ends the reports, and nothing else: the reply tells of it.
 */
export function reportProgress(jobs: Jobs, id: JobId, call: ToolCall): () => void {
  if (call.progress === undefined) return () => undefined
  const newest = new NewestLine((line) => call.progress?.(line))
  const end = (): void => newest.end()
  watch(jobs, id, call.session, newest).then(end, end)
  return end
}

/** Follows anew for each look: a follower that pauses would be pages behind a flood, and one that does not would read all of it. */
async function watch(jobs: Jobs, id: JobId, caller: ToolCall['session'], newest: NewestLine): Promise<void> {
  const { signal } = newest
  let seen: Offsets = {}
  while (jobs.get(id, caller).finishedAt === undefined) {
    const channel = await grown(jobs.follow(id, { caller, from: seen, signal }))
    if (channel === undefined) return
    seen = sizesOf(jobs.get(id, caller))
    newest.grown(() => endOf(jobs, id, caller, channel))
    await pause(INTERVAL_MS, undefined, { signal })
  }
}

/** The channel that has grown; undefined if none will any more, or nobody waits. */
async function grown(followed: AsyncIterable<JobFollow>): Promise<string | undefined> {
  for await (const item of followed) {
    const chunk = item.type === 'output' ? item.chunks.findLast(({ text, dropped }) => text !== '' || dropped > 0) : undefined
    if (chunk !== undefined) return chunk.channel
  }
  return undefined
}

function endOf(jobs: Jobs, id: JobId, caller: ToolCall['session'], channel: string): string {
  const { output } = jobs.get(id, caller)
  const { size = 0, earliest = 0 } = output[channel] ?? {}
  const from = { ...sizesOf({ output }), [channel]: Math.max(earliest, size - LOOK_BACK_BYTES) }
  const { chunks } = jobs.readAt(id, from, caller, LOOK_BACK_BYTES)
  return chunks.map((chunk) => (chunk.channel === channel ? chunk.text : '')).join('')
}

function sizesOf({ output }: Pick<JobView, 'output'>): Offsets {
  return Object.fromEntries(Object.entries(output).map(([channel, { size }]) => [channel, size]))
}
