import { z } from 'zod'

/** Node fires a timer above this at once. */
export const LONGEST_TIMER_MS = 2_147_483_647

const count = () => z.int().min(1)

export const JobsConfig = z
  .strictObject({
    maxDetachedPerOwner: count().default(10).describe('Live jobs of one session that no call holds.'),
    maxJobsPerOwner: count().default(64).describe('Live jobs of one session, those that a call holds included.'),
    stopBudgetMs: count()
      .max(LONGEST_TIMER_MS)
      .default(8_000)
      .describe(
        "From a stop to `failed: did not stop`, where a job sets no budget of its own. The executor's grace plus 5,000: raise both together.",
      ),
    settledPerOwner: count().default(200).describe('Settled jobs of one session that are kept.'),
    settledMaxAgeMs: count().default(3_600_000).describe('How long a settled job is kept.'),
    replyLimitBytes: z.int().min(256).max(1_000_000).default(64_000).describe('Most model text about one job in one reply, in UTF-8 bytes.'),
  })
  .refine(({ maxDetachedPerOwner, maxJobsPerOwner }) => maxDetachedPerOwner <= maxJobsPerOwner, {
    path: ['maxDetachedPerOwner'],
    error: 'maxDetachedPerOwner must not be above maxJobsPerOwner',
  })
  .prefault({})
export type JobsConfig = z.output<typeof JobsConfig>
