import type { Jobs } from '@tenon/jobs'
import type { Tool } from '@tenon/tools'
import { z } from 'zod'
import { list, listedJob } from './job-schema.ts'
import { ageOf } from './status.ts'
import { text } from './text.ts'

const SHOWN = 50

const input = z.strictObject({})
const output = z.strictObject({ jobs: z.array(listedJob), notShown: z.int().min(0) })

export function jobList(jobs: Jobs): Tool<typeof input, typeof output> {
  return {
    name: 'job_list',
    description: text.list.description,
    input,
    output,
    annotations: { readOnly: true },
    async execute(_input, call) {
      const all = jobs.list(call.session)
      const live = all.filter(({ finishedAt }) => finishedAt === undefined)
      // From the one that was started last: of those that ended in the same millisecond it stays the first.
      const settled = all
        .filter(({ finishedAt }) => finishedAt !== undefined)
        .reverse()
        .sort((a, b) => (b.finishedAt ?? 0) - (a.finishedAt ?? 0))
      const shown = [...live, ...settled.slice(0, Math.max(0, SHOWN - live.length))]
      return { jobs: shown.map(list), notShown: all.length - shown.length }
    },
    render: ({ jobs: shown, notShown }) => {
      const lines = shown.map((job) => text.row(job.id, job.kind, job.status, ageOf(job.durationMs), job.label))
      if (notShown > 0) lines.push(text.notShown(notShown))
      return [{ type: 'text', text: lines.length === 0 ? text.noJobs : lines.join('\n') }]
    },
  }
}
