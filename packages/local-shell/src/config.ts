import { posix, win32 } from 'node:path'
import { MAX_TIMEOUT_MS } from '@tenon/shell'
import { MANAGED_PREFIX, MAX_COLLECT_BYTES, MAX_GRACE_MS, MIN_COLLECT_BYTES } from '@tenon/subprocess'
import { z } from 'zod'

/** A deployment's settings of one executor. */
export interface LocalShellConfig {
  /** Of requests that name none: those of the shell tools name their session's. Absolute. Absent: the host's, read once at activation. */
  readonly cwd?: string | undefined
  /** Of requests that name none, in milliseconds; and the most any request gets. */
  readonly timeoutMs: number
  readonly maxTimeoutMs: number
  /** Bytes kept of each stream, and bytes of a stream its file may hold. */
  readonly maxOutputBytes: number
  readonly maxSpillBytes: number
  /** Milliseconds between the polite and the forced signal. */
  readonly graceMs: number
  /** Absent: what the dialect discovers. */
  readonly executable?: string | undefined
  readonly env: Readonly<Record<string, string>>
}

const milliseconds = (most: number) => z.int().min(1).max(most)
const bytes = (most: number) => z.int().min(MIN_COLLECT_BYTES).max(most)

/** The config of an executor's row, all defaults included. */
export function localShellConfig(platform: NodeJS.Platform) {
  const { isAbsolute } = platform === 'win32' ? win32 : posix
  return z
    .strictObject({
      cwd: z
        .string()
        .refine(isAbsolute, 'must be an absolute path')
        .optional()
        .describe(
          'Absolute directory of commands that name none. No effect through the shell tools: they name the directory of their session. Default: that of the host.',
        ),
      timeoutMs: milliseconds(MAX_TIMEOUT_MS).default(120_000).describe('Deadline of commands that name none.'),
      maxTimeoutMs: milliseconds(MAX_TIMEOUT_MS).default(600_000).describe('Longest deadline a command gets, whatever it asks for.'),
      maxOutputBytes: bytes(MAX_COLLECT_BYTES)
        .default(64_000)
        .describe('Bytes of each stream that are kept in memory, the newest. A stream that has more goes to a file as a whole.'),
      maxSpillBytes: bytes(Number.MAX_SAFE_INTEGER)
        .default(64 * 1024 * 1024)
        .describe('Largest file of a stream; of a longer one only the newest bytes are kept, without a file.'),
      graceMs: milliseconds(MAX_GRACE_MS).default(3_000).describe('Between the polite and the forced end of a command.'),
      executable: z.string().min(1).optional().describe('The shell: a bare name, or an absolute path. Default: what is found on this machine.'),
      env: z.record(z.string(), z.string()).default({}).describe('Variables of every command, over those it inherits. No TENON_*.'),
    })
    .superRefine((config, context) => {
      const issue = (path: (string | number)[], message: string): void => context.addIssue({ code: 'custom', path, message })
      // A number that is wrong by itself contradicts nobody: the advice would be to change the other one.
      const contradict = (name: 'timeoutMs' | 'maxOutputBytes', limit: 'maxTimeoutMs' | 'maxSpillBytes'): void => {
        if (context.issues.some(({ path }) => path?.[0] === name || path?.[0] === limit)) return
        if (config[name] > config[limit]) issue([name], `must not be above ${limit} (${config[limit]})`)
      }
      contradict('timeoutMs', 'maxTimeoutMs')
      contradict('maxOutputBytes', 'maxSpillBytes')
      for (const [key, value] of Object.entries(config.env)) {
        const fault = envFault(key, value)
        if (fault !== undefined) issue(['env', key], fault)
      }
    })
    .prefault({})
}

/** Why a pair cannot be part of an environment that others than `shell-env` set. Pure. */
export function envFault(key: string, value: unknown): string | undefined {
  if (isManaged(key)) return `begins with ${MANAGED_PREFIX}, which only shell-env sets; register a contributor there`
  return pairFault(key, value)
}

export function isManaged(key: string): boolean {
  return key.toUpperCase().startsWith(MANAGED_PREFIX)
}

export function pairFault(key: string, value: unknown): string | undefined {
  if (key === '' || key.includes('=') || key.includes('\0')) return 'is no name of a variable; it must be non-empty, without "=" and NUL'
  if (typeof value !== 'string') return 'must be a string'
  return value.includes('\0') ? 'must not hold NUL characters' : undefined
}
