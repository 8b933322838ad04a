import { isAbsolute } from 'node:path'
import { z } from 'zod'

export const McpServerConfig = z
  .strictObject({
    transport: z
      .enum(['stdio', 'http'])
      .default('stdio')
      .describe(
        'How clients connect: stdio serves the one that started `tenon mcp`, or another program that gives its streams; http whoever knows the token.',
      ),
    cwd: z
      .string()
      .refine((path) => isAbsolute(path), { error: 'give an absolute path' })
      .optional()
      .describe('Working directory of a session, for connections that open from now on. Default: that of this process.'),
    jobs: z
      .enum(['own', 'shared'])
      .default('own')
      .describe(
        'Whose jobs a client over http sees: own fences those of each connection and ends them with it; shared gives connections that open from now on one session together, whose jobs end with this row.',
      ),
    maxMessageBytes: z
      .int()
      .min(1_024)
      .max(1_073_741_824)
      .default(10_485_760)
      .describe('Longest message a client may send. A longer one is refused and the connection goes on.'),
    drainMs: z
      .int()
      .min(0)
      .max(9_000)
      .default(1_000)
      .describe('How long calls in flight may go on to answer when a client has closed its end of stdio.'),
    host: z.string().min(1).default('127.0.0.1').describe('Address that http listens on.'),
    port: z.int().min(0).max(65_535).default(7_117).describe('Port that http listens on; 0 for one that is free, which the log tells.'),
    token: z
      .string()
      // Not `min`: what is said of that quotes the value, which comes from the environment and goes to logs.
      .refine((token) => token.length >= 16, { error: 'a token has at least 16 characters; `openssl rand -hex 16` makes one' })
      .optional()
      .describe('Bearer token that http asks for, of at least 16 characters. Default: one is made at the start, and the log tells it.'),
    allowedHosts: z
      .array(z.string())
      .default([])
      .describe('Values of the Host header that http accepts, such as "box.example:7117", beside those of the loopback addresses.'),
    allowedOrigins: z
      .array(z.string())
      .default([])
      .describe(
        'Origins of web pages that may use http and read its answers (CORS), such as "http://localhost:6274". A request without an Origin header comes from no page.',
      ),
    idleMs: z
      .int()
      .min(1_000)
      .max(2_147_483_647)
      .default(300_000)
      .describe('A session over http ends when its client has had no request and no stream open for this long.'),
    maxSessions: z.int().min(1).max(10_000).default(64).describe('Sessions over http at one time.'),
  })
  .prefault({})
export type McpServerConfig = z.output<typeof McpServerConfig>
