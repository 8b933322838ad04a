import type { EnvEntries } from '@tenon/subprocess'

export interface ShellEnvContext {
  /** Absent: the command is run for no session. */
  readonly sessionId?: string
}

/** Adds facts about the runtime to the environment of every shell command. */
export interface ShellEnvContributor {
  /** One kebab-case word, unique; contributors run in name order. */
  readonly name: string
  /** Key (`TENON_` + `[A-Z][A-Z0-9_]*`) to a description that is not blank. */
  readonly variables: Readonly<Record<string, string>>
  /**
   * Synchronous, and called for every command: keep it cheap. Declared keys only; undefined, or absence, omits one. If it throws, or
   * returns an undeclared key or something that cannot be a variable's value, this contribution is left out and logged.
   */
  resolve(context: ShellEnvContext): EnvEntries
}
