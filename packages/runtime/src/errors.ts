import { type Cause, CodedError } from '@tenon/kernel'
import type { Diagnostic } from './diagnostic.ts'
import type { Position } from './source-text.ts'

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
  /** Where the rows among the causes are written, by id. */
  readonly positions: Readonly<Record<string, Position>>

  constructor(what: string, causes: readonly Cause[], rows: readonly { readonly id: string; readonly position: Position }[] = []) {
    const positions = new Map(rows.map(({ id, position }) => [id, position]))
    super('ROW_NOT_ACTIVE', `${what}:\n${causes.map((tree) => causeLines(tree, 1, positions).join('\n')).join('\n')}`)
    this.causes = causes
    const named = new Set(causes.flatMap(rowsOf))
    this.positions = Object.fromEntries([...positions].filter(([id]) => named.has(id)))
  }
}

/** A tree of causes, a line each, indented by depth, with the place of the row where it is known. */
export function causeLines(cause: Cause, depth = 1, positions?: ReadonlyMap<string, Position>): readonly string[] {
  const at = positions?.get(cause.row)
  const place = at === undefined ? '' : ` (${at.file}:${at.line}:${at.column})`
  const line = `${'  '.repeat(depth)}${cause.row} (${cause.phase}): ${cause.message}${place}`
  return [line, ...cause.causes.flatMap((inner) => causeLines(inner, depth + 1, positions))]
}

function rowsOf({ row, causes }: Cause): readonly string[] {
  return [row, ...causes.flatMap(rowsOf)]
}
