import { z } from 'zod'

const ms = () => z.int().min(1).max(2_147_483_647)

export const ToolsConfig = z
  .strictObject({
    reconcileWaitMs: ms().default(5_000).describe('How long a call, and a change event, waits for rows in transition.'),
    abortGraceMs: ms().default(10_000).describe('How long the body of an aborted call may take to end before it is abandoned.'),
    middlewareBudgetMs: ms().default(5_000).describe('Time of each hook of a policy that sets no budget of its own.'),
    maxContentBytes: z.int().min(256).default(262_144).describe('Text of one result, in UTF-8 bytes; the rest is cut with a marker.'),
    maxArgumentBytes: z.int().min(1).default(4_194_304).describe('Arguments of one call, in UTF-8 bytes of JSON.'),
  })
  .prefault({})
export type ToolsConfig = z.output<typeof ToolsConfig>
