import { bashWords, pwshWords } from './text.ts'

/** What a model reads that depends on the shell. */
export interface ShellToolWords {
  /** Of the tool; the sentences about background jobs are added where they hold. */
  readonly description: string
  /** Of the prompt section. */
  readonly section: string
}

/** All that differs between two shell tools. */
export interface ToolDialect {
  /** Of the tool, of the kind of its jobs, and of the prompt section `tool:NAME`. */
  readonly name: string
  readonly words: ShellToolWords
}

export const bashDialect: ToolDialect = { name: 'bash', words: bashWords }
export const pwshDialect: ToolDialect = { name: 'pwsh', words: pwshWords }
