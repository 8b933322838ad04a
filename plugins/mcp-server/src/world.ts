import type { Readable, Writable } from 'node:stream'

/** The process that serves: what no composition says. */
export interface World {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly pid: number
  /** Of this package. */
  version(): string
  cwd(): string
  /** Monotonic milliseconds. */
  now(): number
  /** Nobody guesses it. */
  randomId(): string
}
