/** One thing a command does. A shell under test turns a list of them into a command text of its language. */
export type Step =
  /** Written as it is, without a newline. */
  | { readonly do: 'print'; readonly text: string; readonly to?: 'stdout' | 'stderr' }
  /** Written as they are. */
  | { readonly do: 'write'; readonly bytes: readonly number[] }
  /** The numbers from 1, a line each. */
  | { readonly do: 'count'; readonly upTo: number; readonly to?: 'stdout' | 'stderr' }
  /** The value of a variable, or `<unset>`. */
  | { readonly do: 'env'; readonly name: string }
  | { readonly do: 'cwd' }
  /** Copies standard input to standard output. */
  | { readonly do: 'cat' }
  | { readonly do: 'closeStdin' }
  | { readonly do: 'touch'; readonly file: string }
  | { readonly do: 'sleep'; readonly ms: number }
  /** Stays until it is ended, whatever signals it survives. */
  | { readonly do: 'linger' }
  /** From here on TERM makes it wait, print, and exit, or go on where there is no exit code. */
  | { readonly do: 'onTerm'; readonly waitMs?: number; readonly text: string; readonly exitCode?: number }
  /** Starts a child that holds the streams for so long and goes on without waiting; `apart`: in a session of its own; `ticks`: it keeps writing. */
  | { readonly do: 'leave'; readonly ms: number; readonly holds?: 'both' | 'stderr'; readonly apart?: boolean; readonly ticks?: boolean }
  | { readonly do: 'die'; readonly signal: NodeJS.Signals }
  | { readonly do: 'exit'; readonly code: number }
