import { fitsArgument } from './argument-limit.ts'
import { type Dialect, NON_INTERACTIVE_ENV } from './dialect.ts'

/** Variables that a shell takes options from at its start, or changes a plain command by (bash manual, "Bash Variables" and "Bash POSIX Mode"). */
const OPTIONS = [
  'POSIXLY_CORRECT',
  'POSIX_PEDANTIC',
  'BASH_COMPAT',
  'BASH_XTRACEFD',
  'CDPATH',
  'EXECIGNORE',
  'FUNCNEST',
  'GLOBIGNORE',
  'TMOUT',
] as const

/**
 * `bash --norc -c TEXT`. `--norc` is required: without it bash sources `~/.bashrc` when SHLVL is absent or 0 and standard input is a
 * socket, or (in common builds) SSH_CLIENT is set.
 */
export const bash: Dialect = {
  name: 'bash',
  // Whoever wants one of them sets it for the row, or the request.
  env: { ...NON_INTERACTIVE_ENV, TERM: 'dumb', ...Object.fromEntries(OPTIONS.map((name) => [name, undefined])) },
  discover: ({ configured }) => configured ?? 'bash',
  launch: (command, platform) =>
    fitsArgument(command, platform)
      ? { form: 'argument', args: ['--norc', '-c', ...(/^[-+]/.test(command) ? ['--'] : []), command] }
      : { form: 'file', extension: 'sh', contents: `${command}.`, args: (path) => ['--norc', '-c', bootstrap(path)] },
}

/**
 * Reads the file whole and evaluates it, so that `$0`, `$#`, standard input, LINENO, `return`, `set -e`, traps and the exit status
 * are as with `-c`; sourcing it, or running it as a script, would change several of them. `$(<…)` drops final newlines, which matter
 * after a backslash: the file ends in one more character, and `%?` takes it away again. The variable is the one bash sets for `-c`.
 */
function bootstrap(path: string): string {
  const quoted = `'${path.replaceAll("'", `'\\''`)}'`
  return `BASH_EXECUTION_STRING=$(<${quoted}) || exit 126; eval -- "\${BASH_EXECUTION_STRING%?}"`
}
