import type { JobView } from '@tenon/jobs'
import { sizesOf } from './channel.ts'
import type { KeptJobs } from './kept.ts'
import { isLive, type JobRecord } from './record.ts'

/** The record as it is now, as frozen plain data. */
export function viewOf(jobs: KeptJobs, record: JobRecord): JobView {
  const { finishedAt, stop } = record
  const endMs = isLive(record) ? jobs.activation.clock.now() : record.finishedMs
  const view: { -readonly [K in keyof JobView]: JobView[K] } = {
    id: record.id,
    kind: record.kind,
    label: record.label,
    owner: record.owner.session.id,
    attachment: record.attachment,
    status: record.status,
    detail: record.detail,
    startedAt: record.startedAt,
    durationMs: Math.max(0, Math.floor(endMs - record.startedMs)),
    output: outputOf(jobs, record),
    notice: record.notice,
    replyLimitBytes: record.replyLimitBytes,
  }
  if (finishedAt !== undefined) view.finishedAt = finishedAt
  // A reason that the producer has not taken yet is no fact.
  if (stop !== undefined && record.status !== 'running') view.stop = stop
  return Object.freeze(view)
}

export const NO_OUTPUT: JobView['output'] = Object.freeze({})

/** The same object while nothing has changed: a list of idle jobs costs little. */
function outputOf(jobs: KeptJobs, record: JobRecord): JobView['output'] {
  const { channels, output: last } = record
  let isSame = channels.length === 0 || last !== NO_OUTPUT
  for (const channel of channels) {
    const sizes = sizesOf(jobs, record, channel)
    isSame &&= last[channel.name] === sizes
  }
  if (!isSame) record.output = Object.freeze(Object.fromEntries(channels.map(({ name, sizes }) => [name, sizes])))
  return record.output
}
