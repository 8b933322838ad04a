import { z } from 'zod'

const ms = () => z.int().min(1).max(2_147_483_647)

export const ToolJobsConfig = z
  .strictObject({
    defaultWaitMs: ms().default(30_000).describe('How long job_output waits where the model gives no timeout_ms.'),
    maxWaitMs: ms().default(600_000).describe('How long job_output waits at most, whatever the model asks for.'),
  })
  .refine(({ defaultWaitMs, maxWaitMs }) => defaultWaitMs <= maxWaitMs, {
    path: ['defaultWaitMs'],
    error: 'defaultWaitMs must not be above maxWaitMs',
  })
  .prefault({})
export type ToolJobsConfig = z.output<typeof ToolJobsConfig>
