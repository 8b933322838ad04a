import type { JobView } from '@tenon/jobs'
import { z } from 'zod'

const count = () => z.int().min(0)

/** A job as the tools report it: the view without its owner, who is the one who reads. */
export const reportedJob = z.strictObject({
  id: z.string(),
  kind: z.string(),
  label: z.string(),
  attachment: z.enum(['foreground', 'detached']),
  status: z.enum(['running', 'stopping', 'completed', 'killed', 'failed']),
  detail: z.strictObject({
    command: z.string().optional(),
    description: z.string().optional(),
    outcome: z.string().optional(),
    exitCode: z.int().optional(),
    signal: z.string().optional(),
  }),
  startedAt: z.number(),
  finishedAt: z.number().optional(),
  durationMs: count(),
  output: z.record(z.string(), z.strictObject({ size: count(), earliest: count(), spillPath: z.string().optional() })),
  stop: z.strictObject({ by: z.enum(['model', 'call', 'human', 'host']), text: z.string() }).optional(),
  notice: z.enum(['none', 'due', 'sent', 'withheld']),
  replyLimitBytes: count(),
})
export type ReportedJob = z.input<typeof reportedJob>

/** One of many: without the command and the sizes, which can be long. */
export const listedJob = reportedJob
  .omit({ detail: true, output: true, replyLimitBytes: true })
  .extend(reportedJob.shape.detail.omit({ command: true, description: true }).shape)
export type ListedJob = z.input<typeof listedJob>

export const offsets = z.record(z.string(), count())

export function list({ owner: _owner, detail, output: _output, replyLimitBytes: _limit, ...job }: JobView): ListedJob {
  const { command: _command, description: _description, ...end } = detail
  return { ...job, ...end }
}

export function report({ owner: _, ...job }: JobView): ReportedJob {
  return job as ReportedJob
}
