import type { Jobs, JobView } from '@tenon/jobs'
import type { Tool } from '@tenon/tools'
import { z } from 'zod'
import { bytesOf } from './clip.ts'
import { report, reportedJob } from './job-schema.ts'
import { withinLimit } from './limit.ts'
import { statusOf } from './status.ts'
import { text } from './text.ts'

const input = z.strictObject({
  job_id: z.string().describe(text.output.jobId),
  reason: z.string().optional().describe(text.kill.reason),
})
const output = z.strictObject({ job: reportedJob, outcome: z.enum(['requested', 'already-finished']) })

export function jobKill(jobs: Jobs): Tool<typeof input, typeof output> {
  return {
    name: 'job_kill',
    description: text.kill.description,
    input,
    output,
    annotations: { destructive: true, idempotent: true },
    async execute({ job_id: id, reason = '' }, { session }) {
      const { replyLimitBytes } = jobs.get(id, session)
      return await withinLimit(replyLimitBytes, () => {
        const why = reason.trim() === '' ? text.kill.defaultReason : reason
        const outcome = jobs.kill(id, session, { by: 'model', text: why })
        return { job: report(jobs.get(id, session)), outcome }
      })
    },
    render: ({ job, outcome }) => {
      const { id, replyLimitBytes } = job
      if (outcome === 'requested') return [{ type: 'text', text: text.kill.requested(id) }]
      const status = statusOf(job as JobView, replyLimitBytes - bytesOf(text.kill.finished(id, '')))
      return [{ type: 'text', text: text.kill.finished(id, status) }]
    },
  }
}
