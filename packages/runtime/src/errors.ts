import { type Cause, CodedError } from '@tenon/kernel'
import type { Diagnostic } from './diagnostic.ts'

export type RuntimeErrorCode =
  /** The catalog has faults; `diagnostics` names each. Nothing was changed. */
  | 'COMPOSITION_INVALID'
  /** A required row did not become active; `causes` says why. At boot everything was closed again, after an edit taken back. */
  | 'ROW_NOT_ACTIVE'
  | 'ROW_UNKNOWN'
  | 'RELOAD_FAILED'
  | 'RUNTIME_CLOSED'

export class RuntimeError extends CodedError<RuntimeErrorCode> {}

export class CompositionError extends RuntimeError {
  readonly diagnostics: readonly Diagnostic[]

  constructor(file: string, diagnostics: readonly Diagnostic[]) {
    const faults = diagnostics.filter(({ severity }) => severity === 'error')
    const [first] = faults
    const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : ''
    super('COMPOSITION_INVALID', `${file} does not fit together: ${first?.message}${more}`)
    this.diagnostics = diagnostics
  }
}

export class NotActiveError extends RuntimeError {
  readonly causes: readonly Cause[]

  constructor(what: string, causes: readonly Cause[], cause?: unknown) {
    super('ROW_NOT_ACTIVE', `${what}:\n${causes.map((tree) => causeLines(tree).join('\n')).join('\n')}`, { cause })
    this.causes = causes
  }
}

/** A tree of causes, a line each, indented by depth. */
export function causeLines(cause: Cause, depth = 1): readonly string[] {
  const line = `${'  '.repeat(depth)}${cause.row} (${cause.phase}): ${cause.message}`
  return [line, ...cause.causes.flatMap((inner) => causeLines(inner, depth + 1))]
}
