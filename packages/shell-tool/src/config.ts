import { z } from 'zod'

/** Of the plugins that install a shell tool. */
export const ShellToolConfig = z
  .strictObject({
    enableRunInBackground: z
      .boolean()
      .default(true)
      .describe('Whether commands become jobs while there is a job registry with a controller (jobs and tool-jobs).'),
    promoteOnTimeout: z
      .boolean()
      .default(true)
      .describe('Whether a command that outlives its timeout continues as a background job. No effect without enableRunInBackground.'),
  })
  .prefault({})
export type ShellToolConfig = z.output<typeof ShellToolConfig>
