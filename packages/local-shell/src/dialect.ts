import type { EnvEntries } from '@tenon/subprocess'

/** What differs between shells, as a value. */
export interface Dialect {
  readonly name: 'bash' | 'pwsh'
  /** Laid over the host's environment, under everything a deployment or a request sets. */
  readonly env: EnvEntries
  /** Pure. The program to resolve: an absolute path or a bare name. */
  discover(input: DiscoveryInput): string
  /** Pure. How the command text reaches the shell. */
  launch(command: string, platform: NodeJS.Platform): Launch
}

export interface DiscoveryInput {
  /** The deployment's `executable`: it wins, unchecked. */
  readonly configured?: string
  readonly env: EnvEntries
  readonly platform: NodeJS.Platform
  /** The only look at the file system discovery may take. */
  lstat(path: string): 'file' | 'link' | 'other' | 'missing'
}

export type Launch =
  | { readonly form: 'argument'; readonly args: readonly string[] }
  /** `contents` go to a private script with the extension (no dot), `args` receives its path. */
  | { readonly form: 'file'; readonly extension: string; readonly contents: string; args(path: string): readonly string[] }

/** Both shells are told that nobody sits in front of them. No locale, CI, editor or shell option is set. */
export const NON_INTERACTIVE_ENV: Readonly<Record<string, string>> = { NO_COLOR: '1', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' }
