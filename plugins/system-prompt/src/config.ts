import { z } from 'zod'

const ms = () => z.int().min(1).max(2_147_483_647)

export const SystemPromptConfig = z
  .strictObject({
    sectionBudgetMs: ms().default(1_000).describe('Time of each rendered section at each assembly.'),
    reconcileWaitMs: ms().default(5_000).describe('How long a change event waits for rows in transition.'),
  })
  .prefault({})
export type SystemPromptConfig = z.output<typeof SystemPromptConfig>
