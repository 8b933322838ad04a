import { type Place, type Position, positionOf } from './source-text.ts'

export type DiagnosticCode =
  | 'CATALOG_UNREADABLE'
  | 'CATALOG_SYNTAX'
  | 'CATALOG_SHAPE'
  | 'CATALOG_UNKNOWN_KEY'
  | 'CATALOG_DUPLICATE_KEY'
  | 'CATALOG_ALIAS'
  | 'CATALOG_EXTENDS_CYCLE'
  | 'EXPRESSION_INVALID'
  | 'ENV_MISSING'
  | 'ROW_UNKNOWN'
  | 'PLUGIN_UNKNOWN'
  | 'PLUGIN_LOAD_FAILED'
  | 'PLUGIN_INVALID'
  | 'CONFIG_INVALID'
  | 'CONFIG_UNKNOWN_KEY'
  | 'CAPABILITY_MISSING'
  | 'CAPABILITY_TAKEN'
  | 'CAPABILITY_CYCLE'

/** Plain data. One fault of a catalog, at the place where a person mends it. */
export interface Diagnostic extends Position {
  readonly severity: 'error' | 'warning'
  readonly code: DiagnosticCode
  readonly message: string
  readonly hint?: string
  /** The row it is about. */
  readonly row?: string
  /** Column behind the last character, at most the end of the line. */
  readonly endColumn: number
  /** The source line, whole. */
  readonly source: string
}

export interface DiagnosticDetails {
  readonly hint?: string | undefined
  readonly row?: string | undefined
  readonly severity?: Diagnostic['severity']
}

export function diagnose(place: Place, code: DiagnosticCode, message: string, details: DiagnosticDetails = {}): Diagnostic {
  const position = positionOf(place)
  const source = place.source.lineAt(place.start)
  const { hint, row, severity = 'error' } = details
  return {
    severity,
    code,
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(row === undefined ? {} : { row }),
    ...position,
    endColumn: Math.max(position.column + 1, Math.min(position.column + place.end - place.start, source.length + 1)),
    source,
  }
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some(({ severity }) => severity === 'error')
}

/** By file in the order they were first named, then from top to bottom; each once, also of a file that is extended twice. */
export function inReadingOrder(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const files = [...new Set(diagnostics.map(({ file }) => file))]
  const once = new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic]))
  return [...once.values()].toSorted((a, b) => files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column)
}
