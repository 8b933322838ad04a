import ts from 'typescript'
import { type Declarations, documentationAt, documentationOf } from './declarations.ts'
import { code, page, table } from './page.ts'

interface Code {
  readonly code: string
  readonly means: string
}

/** Every closed union of codes: of error classes, and of diagnostics. */
export function errorCodesPage(declarations: readonly Declarations[]): string {
  const introduction =
    'Recognise an error by its `code`, not by its class or message: two copies of a package can meet in one process. What a code means beyond its name stands beside it.'
  return page('Error codes', introduction, [...errorSections(declarations), diagnosticSection(declarations)])
}

/** Class → codes. */
function errorSections(declarations: readonly Declarations[]): readonly string[] {
  return declarations.flatMap(({ package: from, source }) =>
    source.statements.filter(ts.isClassDeclaration).flatMap((declared) => {
      const [base] = declared.heritageClauses?.flatMap(({ types }) => types) ?? []
      const codes = base?.typeArguments?.[0]
      if (base?.expression.getText() !== 'CodedError' || codes === undefined || declared.name === undefined) return []
      return [section(declared.name.text, from, documentationOf(declared), codesOf(codes))]
    }),
  )
}

function diagnosticSection(declarations: readonly Declarations[]): string {
  for (const { package: from, source } of declarations) {
    const alias = source.statements.filter(ts.isTypeAliasDeclaration).find(({ name }) => name.text === 'DiagnosticCode')
    if (alias !== undefined) return section('Diagnostics', from, 'What `tenon check` reports, each with file, line and column.', codesOf(alias.type))
  }
  throw new Error('there is no type DiagnosticCode any more')
}

function section(title: string, from: string, about: string, codes: readonly Code[]): string {
  const list = codes.every(({ means }) => means === '')
    ? codes.map(({ code: name }) => code(name)).join(', ')
    : table(
        ['code', ''],
        codes.map(({ code: name, means }) => [code(name), means]),
      )
  return [`## ${title}`, `${code(from)}${about === '' ? '' : `. ${about.replace(/\s*\n\s*/g, ' ')}`}`, list].join('\n\n')
}

function codesOf(type: ts.TypeNode): readonly Code[] {
  if (ts.isUnionTypeNode(type)) return type.types.flatMap((member, at) => members(member, type.types[at - 1]?.end ?? type.getFullStart()))
  if (ts.isLiteralTypeNode(type) && ts.isStringLiteral(type.literal)) return [{ code: type.literal.text, means: '' }]
  if (ts.isTemplateLiteralTypeNode(type)) {
    return type.templateSpans.reduce<readonly Code[]>(
      (before, span) => before.flatMap((begun) => codesOf(span.type).map((next) => joined(begun, next, span.literal.text))),
      [{ code: type.head.text, means: '' }],
    )
  }
  if (ts.isTypeReferenceNode(type)) {
    const aliases = type.getSourceFile().statements.filter(ts.isTypeAliasDeclaration)
    const alias = aliases.find(({ name }) => name.text === type.typeName.getText())
    if (alias !== undefined) return codesOf(alias.type)
  }
  throw new Error(`codes cannot be read out of ${type.getText()} in ${type.getSourceFile().fileName}`)
}

/** The comment on a member of a union stands before its bar. */
function members(type: ts.TypeNode, begin: number): readonly Code[] {
  const about = documentationAt(type.getSourceFile(), begin)
  return codesOf(type).map(({ code: name, means }) => ({ code: name, means: means || about }))
}

function joined(first: Code, second: Code, rest: string): Code {
  return { code: `${first.code}${second.code}${rest}`, means: second.means || first.means }
}
