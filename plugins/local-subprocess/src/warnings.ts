/** The part of a logger that this plugin uses. */
export interface Log {
  debug(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** One warning per runtime and cause: a full disk is one piece of news, not one per command. */
export class Warnings {
  /** Replaced by each activation. */
  log: Log
  readonly #said = new Set<string>()

  constructor(log: Log) {
    this.log = log
  }

  once(cause: string, facts: object, message: string): void {
    if (this.#said.has(cause)) return
    this.#said.add(cause)
    this.log.warn(facts, message)
  }
}
