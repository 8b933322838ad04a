import type { Jobs } from '@tenon/jobs'
import { type Tool, ToolError } from '@tenon/tools'
import { z } from 'zod'
import type { ToolJobsConfig } from './config.ts'
import { offsets, report, reportedJob } from './job-schema.ts'
import { withinLimit } from './limit.ts'
import { compile, type Matcher } from './matcher.ts'
import { reportProgress } from './progress.ts'
import { outputBudget, type ReplyContext, renderReply } from './reply.ts'
import { text } from './text.ts'
import { type Waited, waitForEnd, waitForLine } from './waiting.ts'

const TAIL_LINES = 10_000

/** Of each reply's output that is looked at before it is read. */
const AHEAD_BYTES = 256

const output = z.strictObject({
  job: reportedJob,
  from: offsets,
  next: offsets,
  /** All that the model is shown. */
  text: z.string(),
  unread: z.int().min(0),
  /** The line that `until` matched. */
  matched: z.string().nullable(),
})

export function jobOutput(jobs: Jobs, { defaultWaitMs, maxWaitMs }: ToolJobsConfig, matcher: Matcher) {
  const input = z.strictObject({
    job_id: z.string().describe(text.output.jobId),
    wait: z.boolean().optional().describe(text.output.wait),
    timeout_ms: z.int().min(1).optional().describe(text.output.timeoutMs(defaultWaitMs, maxWaitMs)),
    until: z.string().optional().describe(text.output.until),
    tail: z.int().min(1).max(TAIL_LINES).optional().describe(text.output.tail),
  })
  const tool: Tool<typeof input, typeof output> = {
    name: 'job_output',
    description: text.output.description,
    input,
    output,
    annotations: { readOnly: true },
    async execute({ job_id: id, wait, timeout_ms: timeoutMs = defaultWaitMs, until, tail }, call) {
      const { replyLimitBytes } = jobs.get(id, call.session)
      return await withinLimit(replyLimitBytes, async () => {
        if (until !== undefined && wait === false) throw new ToolError('TOOL_ARGUMENTS', text.untilNeedsWait)
        const boundMs = Math.min(timeoutMs, maxWaitMs)
        const pattern = until === undefined ? undefined : compile(until)
        let waited: Waited | undefined
        let last: z.input<typeof output> | undefined
        // Around the waits themselves: whoever awaits one step more may come too late for a record that goes with its registry.
        const stopProgress = pattern !== undefined || wait === true ? reportProgress(jobs, id, call) : undefined
        try {
          // To look for a line takes longer than a record may be there that goes with its registry.
          const atEnd = (): void => {
            last = reply(id, call.session, undefined, { until: { end: 'ended' }, boundMs, tail: false }, false)
          }
          if (pattern !== undefined) waited = await waitForLine(jobs, id, boundMs, call, { pattern, matcher, atEnd })
          else if (wait === true) await waitForEnd(jobs, id, boundMs, call)
        } finally {
          stopProgress?.()
        }
        try {
          return reply(id, call.session, tail, { until: waited, boundMs, tail: tail !== undefined })
        } catch (error) {
          if (last === undefined) throw error
          return last
        }
      })
    },
    render: (value) => [{ type: 'text', text: value.text }],
  }
  return tool

  /** One read, all of it in one step: what was looked at is what is read. Unless it `consumes`, the next read begins where this one does. */
  function reply(
    id: string,
    session: Parameters<Jobs['read']>[1],
    tailLines: number | undefined,
    context: ReplyContext,
    consumes = true,
  ): z.input<typeof output> {
    const maxBytes = outputBudget(jobs.readAt(id, 'unread', session, AHEAD_BYTES), context)
    const read = consumes
      ? jobs.read(id, session, { maxBytes, ...(tailLines === undefined ? {} : { tailLines }) })
      : jobs.readAt(id, 'unread', session, maxBytes)
    return {
      job: report(read.job),
      from: read.from,
      next: read.next,
      text: renderReply(read, context),
      unread: read.unread,
      matched: context.until?.line ?? null,
    }
  }
}
