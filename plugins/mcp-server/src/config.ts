import { isAbsolute } from 'node:path'
import { z } from 'zod'

export const McpServerConfig = z
  .strictObject({
    transport: z.enum(['stdio']).default('stdio').describe('How clients connect: stdio serves the one that started this process.'),
    cwd: z
      .string()
      .refine((path) => isAbsolute(path), { error: 'give an absolute path' })
      .optional()
      .describe('Working directory of a session, for connections that open from now on. Default: that of this process.'),
    maxMessageBytes: z
      .int()
      .min(1_024)
      .max(1_073_741_824)
      .default(10_485_760)
      .describe('Longest message a client may send. A longer one is refused and the connection goes on.'),
    drainMs: z
      .int()
      .min(0)
      .max(60_000)
      .default(1_000)
      .describe('How long calls in flight may go on to answer when a client has closed its end of stdio.'),
  })
  .prefault({})
export type McpServerConfig = z.output<typeof McpServerConfig>
