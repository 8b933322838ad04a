import type { CodedError } from '@tenon/kernel'
import { CompositionError, type Diagnostic, NotActiveError, printDiagnostic, SettingError } from '@tenon/runtime'
import { ExitCode } from './exit-codes.ts'
import type { Screen } from './screen.ts'
import { plainText, printableJson } from './terminal-text.ts'
import { UsageError } from './usage-error.ts'

export interface FailureOptions {
  readonly json?: boolean
  readonly debug?: boolean
  readonly cwd: string
}

/** Tells people, or with `json` programs, what went wrong: diagnostics and messages, a stack only with `--debug`. Gives the exit code. */
export function tellFailure(error: unknown, screen: Screen, options: FailureOptions): number {
  if (options.json === true) screen.print(printableJson({ error: jsonOf(error) }, 2))
  else screen.complain(failureText(error, screen, options))
  if (options.json === true && options.debug === true && error instanceof Error) screen.complain(plainText(stackOf(error)))
  return exitCodeOf(error)
}

/** For standard error. */
export function failureText(error: unknown, screen: Screen, options: FailureOptions): string {
  const text =
    error instanceof CompositionError
      ? diagnosticsText(error.diagnostics, screen.errorColor, options.cwd)
      : `${screen.paintError(['red', 'bold'], 'error:')} ${plainText(messageOf(error))}${hintOf(error, options)}`
  return options.debug === true && error instanceof Error ? `${text}\n${plainText(stackOf(error))}` : text
}

/** Every diagnostic, and how many there are. */
export function diagnosticsText(diagnostics: readonly Diagnostic[], color: boolean, cwd: string): string {
  const blocks = diagnostics.map((diagnostic) => printDiagnostic(diagnostic, { color, cwd }))
  return [...blocks, counts(diagnostics)].join('\n\n')
}

export function counts(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic['severity'], word: string): string[] => {
    const number = diagnostics.filter((diagnostic) => diagnostic.severity === severity).length
    return number === 0 ? [] : [`${number} ${word}${number === 1 ? '' : 's'}`]
  }
  return [...count('error', 'error'), ...count('warning', 'warning')].join(', ')
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError || error instanceof SettingError) return ExitCode.usage
  if (error instanceof CompositionError || error instanceof NotActiveError) return ExitCode.composition
  return isCoded(error) ? ExitCode.failed : ExitCode.internal
}

function jsonOf(error: unknown): object {
  const code = isCoded(error) ? error.code : 'INTERNAL'
  const base = { code, message: messageOf(error) }
  if (error instanceof CompositionError) return { ...base, diagnostics: error.diagnostics }
  if (error instanceof NotActiveError) return { ...base, causes: error.causes, positions: error.positions }
  return base
}

/** By its code, not its class: two copies of a package can meet. */
function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && typeof (error as Partial<CodedError>).code === 'string' && !('syscall' in error)
}

export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return '<unprintable thrown value>'
  }
}

function hintOf(error: unknown, { debug }: FailureOptions): string {
  if (isCoded(error)) return error.code === 'USAGE' ? '' : ` [${error.code}]`
  return debug === true ? '' : ' (an internal fault; --debug shows where)'
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : ''
  return `${error.stack ?? error.message}${cause}`
}
