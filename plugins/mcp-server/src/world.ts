/** The process that serves: what no composition says. */
export interface World {
  readonly pid: number
  /** Of this package. */
  version(): string
  cwd(): string
  /** Monotonic milliseconds. */
  now(): number
  /** Nobody guesses it. */
  randomId(): string
}
