import { type Diagnostic, type DiagnosticCode, type DiagnosticDetails, diagnose } from './diagnostic.ts'
import { type Environment, expand } from './expression.ts'
import { keyPlaceOf, type Located, type LocatedEntry, nodeAt, type Path, placeOf } from './located.ts'
import type { SchemaFault } from './schema-faults.ts'
import type { Place, Position } from './source-text.ts'

/** What is wrong with one row. Once the row is known to be optional, its faults are warnings. */
export class RowFaults {
  readonly diagnostics: Diagnostic[] = []
  optional = false
  readonly #id: string
  readonly #env: Environment
  /** Expressions that came to nothing. */
  readonly #failed: Diagnostic[] = []

  constructor(id: string, env: Environment) {
    this.#id = id
    this.#env = env
  }

  get anyExpressionFailed(): boolean {
    return this.#failed.length > 0
  }

  expand(node: Located): Located {
    return expand(node, this.#env, (diagnostic) => {
      if (diagnostic.severity === 'error') this.#failed.push(diagnostic)
      this.#push(diagnostic)
    })
  }

  report(place: Place, code: DiagnosticCode, message: string, details: DiagnosticDetails = {}): void {
    this.#push(diagnose(place, code, `row "${this.#id}": ${message}`, details))
  }

  /** `root` is what the schema was asked about; `hintAt` may know better than the schema why an unknown key is there. */
  reportSchema(
    fault: SchemaFault,
    root: LocatedEntry,
    codes: { readonly invalid: DiagnosticCode; readonly unknownKey: DiagnosticCode },
    hintAt?: (place: Place) => string | undefined,
  ): void {
    const { kind, path, message, hint, hintFromValue } = fault
    if (kind === 'unknown-key') {
      const place = keyPlaceOf(root, path)
      this.report(place, codes.unknownKey, `${label(path.slice(0, -1))}${message}`, { hint: hintAt?.(place) ?? hint })
      return
    }
    const place = spokenOf(root, path, message) ?? placeOf(root, path)
    // The value of an expression that failed is no second fault.
    if (this.#failed.some((failed) => contains(place, failed))) return
    const node = nodeAt(root, path)
    this.report(place, codes.invalid, `${message.startsWith(`${path.join('.')} `) ? '' : label(path)}${withoutSecrets(message, node)}`, {
      hint: (isLiteral(node) ? hintFromValue : undefined) ?? hint,
    })
  }

  #push(diagnostic: Diagnostic): void {
    this.diagnostics.push({ ...diagnostic, row: this.#id, severity: this.optional ? 'warning' : diagnostic.severity })
  }
}

/** A fault of a value that is not written lies with the one beside it that the message names, if there is one. */
function spokenOf(root: LocatedEntry, path: Path, message: string): Place | undefined {
  if (path.length === 0 || nodeAt(root, path) !== undefined) return undefined
  const around = nodeAt(root, path.slice(0, -1))
  const words = new Set(message.match(/[\w-]+/g))
  const named = around?.kind === 'map' ? [...around.entries].filter(([key]) => words.has(key)) : []
  return named.length === 1 ? named[0]?.[1].value.place : undefined
}

function label(path: Path): string {
  return path.length === 0 ? '' : `${path.map(String).join('.')}: `
}

/** What came from the environment may be a secret: a message names the expression, not its value. */
function withoutSecrets(message: string, node: Located | undefined): string {
  if (node?.kind !== 'scalar' || node.written === undefined) return message
  return message.replace(/, got [\s\S]*$/, `, got the value of ${node.written}`)
}

/** As it stands in the file, without an expression. */
function isLiteral(node: Located | undefined): boolean {
  return node?.kind !== 'scalar' || node.written === undefined
}

function contains({ source, start, end }: Place, inner: Position): boolean {
  const [from, to] = [source.position(start), source.position(end)]
  if (inner.file !== source.path || inner.line < from.line || inner.line > to.line) return false
  return (inner.line > from.line || inner.column >= from.column) && (inner.line < to.line || inner.column <= to.column)
}
