import { isAbsolute } from 'node:path'
import { DEFAULT_DENIED_NAMES, MAX_GRACE_MS } from '@tenon/subprocess'
import { z } from 'zod'

/** The row's config. `spillDirectory` is absent for the system's temporary directory. */
export const config = z
  .strictObject({
    environment: z
      .strictObject({
        allow: z
          .array(z.string().min(1))
          .default([])
          .describe('Names that children inherit although they look like credentials or startup hooks. Never TENON_*.'),
        deny: z
          .array(z.string().min(1))
          .default([...DEFAULT_DENIED_NAMES])
          .describe('Names that children do not inherit, besides those that look like credentials.'),
        dropNodeOptions: z.boolean().default(false).describe('Whether NODE_OPTIONS is kept from children as well.'),
      })
      .prefault({}),
    spillDirectory: z
      .string()
      .refine(isAbsolute, 'must be an absolute path')
      .optional()
      .describe(
        'Where the private directory for overflowing output is made, and FIFOs with it. Default: the system temporary directory, and for FIFOs one in memory where there is one.',
      ),
    minFreeBytes: z
      .int()
      .min(0)
      .default(64 * 1_024 ** 2)
      .describe('Output is not written to a file while the file system has less.'),
    retainedSpillBytes: z
      .int()
      .min(0)
      .default(1_024 ** 3)
      .describe('All files with output together; beyond it the oldest is deleted.'),
    killWaitMs: z.int().min(1).max(MAX_GRACE_MS).default(5_000).describe('How long closing waits for a tree after the forced signal.'),
    launcher: z
      .enum(['process', 'host'])
      .optional()
      .describe(
        'Who starts commands: a small process beside the host, so that neither its memory nor its event loop counts, or the host itself. Default: process, on Windows host.',
      ),
  })
  .prefault({})

export type Config = z.output<typeof config>

/** The part of the config that concerns what a reload leaves alone. */
export interface Settings {
  readonly spillDirectory: string
  /** Where FIFOs are, and the socket of the launcher: in the first of these that will do. */
  readonly pipeDirectories: readonly string[]
  readonly minFreeBytes: number
  readonly retainedSpillBytes: number
  readonly killWaitMs: number
  readonly launcher: 'process' | 'host'
}
