import type { JobView } from '@tenon/jobs'
import { sizesOf } from './channel.ts'
import type { KeptJobs } from './kept.ts'
import { isLive, type JobRecord } from './record.ts'

/** The record as it is now, as frozen plain data. */
export function viewOf(jobs: KeptJobs, record: JobRecord): JobView {
  const { command, description, outcome, finishedAt } = record
  const settled = !isLive(record)
  const endMs = settled ? record.finishedMs : jobs.activation.clock.now()
  return Object.freeze({
    id: record.id,
    kind: record.kind,
    label: record.label,
    owner: record.owner.session.id,
    attachment: record.attachment,
    status: record.status,
    detail: Object.freeze({
      ...(command === undefined ? {} : { command }),
      ...(description === undefined ? {} : { description }),
      ...(outcome === undefined ? {} : { outcome }),
    }),
    startedAt: record.startedAt,
    ...(finishedAt === undefined ? {} : { finishedAt }),
    durationMs: Math.max(0, Math.floor(endMs - record.startedMs)),
    output: outputOf(jobs, record),
    // A reason that the producer has not taken yet is no fact.
    ...(record.stop === undefined || record.status === 'running' ? {} : { stop: record.stop }),
    notice: record.notice,
    replyLimitBytes: record.replyLimitBytes,
  })
}

function outputOf(jobs: KeptJobs, record: JobRecord): JobView['output'] {
  const entries = [...record.channels.values()].map((channel) => [channel.name, Object.freeze(sizesOf(jobs, record, channel))] as const)
  return Object.freeze(Object.fromEntries(entries))
}
