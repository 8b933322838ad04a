import type { JobRead, JobView, OutputChunk } from '@tenon/jobs'
import type { SessionId } from '@tenon/session'

export function jobView(change: Partial<JobView> = {}): JobView {
  return {
    id: 'bash-1',
    kind: 'bash',
    label: 'make',
    owner: 'one' as SessionId,
    attachment: 'detached',
    status: 'running',
    detail: {},
    startedAt: 0,
    durationMs: 0,
    output: {},
    notice: 'none',
    replyLimitBytes: 64_000,
    ...change,
  }
}

export function chunk(channel: string, text: string, change: Partial<OutputChunk> = {}): OutputChunk {
  return { channel, at: 0, text, dropped: 0, ...change }
}

export function jobRead(chunks: readonly OutputChunk[], change: Partial<Omit<JobRead, 'job'>> & { readonly job?: Partial<JobView> } = {}): JobRead {
  const names = [...new Set(chunks.map(({ channel }) => channel))]
  const output = Object.fromEntries(names.map((name) => [name, { size: 1_000, earliest: 0 }]))
  const { job, ...rest } = change
  return { from: {}, next: {}, unread: 0, skipped: 0, chunks, ...rest, job: jobView({ output, ...job }) }
}
