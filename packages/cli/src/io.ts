import type { Readable, Writable } from 'node:stream'

/** The world of one run of the program. */
export interface Io {
  readonly stdin: Readable & { readonly isTTY?: boolean | undefined }
  readonly stdout: Writable & { readonly isTTY?: boolean | undefined }
  readonly stderr: Writable & { readonly isTTY?: boolean | undefined }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly pid: number
  /** Ends the process at once, as the program means it: a plugin that calls `process.exit` is told from it. */
  readonly exit: (code: number) => void
}

/** Flags that every command takes. */
export interface GeneralFlags {
  readonly logLevel?: string
  readonly quiet?: boolean
  readonly color?: boolean
  readonly debug?: boolean
}

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
