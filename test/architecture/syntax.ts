import ts from 'typescript'

export interface Import {
  /** What stands between the quotes. */
  readonly from: string
  /** Erased by the compiler: nothing is loaded. */
  readonly typeOnly: boolean
}

/** Every module that a file names: static, dynamic and type imports, re-exports, `require`. */
export function importsOf(path: string, text: string): readonly Import[] {
  const file = parse(path, text)
  const known = imports.get(file)
  if (known) return known
  const found: Import[] = []
  const add = (specifier: ts.Node | undefined, typeOnly: boolean): void => {
    if (specifier && ts.isStringLiteralLike(specifier)) found.push({ from: specifier.text, typeOnly })
  }
  visit(file, (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isErased(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node)) add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true)
    else if (ts.isExternalModuleReference(node)) add(node.expression, false)
    else if (ts.isCallExpression(node) && (node.expression.kind === ts.SyntaxKind.ImportKeyword || isNamed(node.expression, 'require'))) {
      add(node.arguments[0], false)
    }
  })
  imports.set(file, found)
  return found
}

/** The package of a bare import, or undefined for a path, a node module and the like. */
export function packageOf(specifier: string): string | undefined {
  return /^(?!node:)(@[^/]+\/[^/]+|[^./@#][^/]*)/.exec(specifier)?.[1]
}

/** Lines that hold code: neither blank nor only comment. A text over several lines counts with all of them. */
export function codeLines(path: string, text: string): number {
  const file = parse(path, text)
  const lines = new Set<number>()
  const collect = (node: ts.Node): void => {
    if (ts.isJSDoc(node)) return
    const children = node.getChildren(file)
    for (const child of children) collect(child)
    if (children.length > 0) return
    const [start, end] = [node.getStart(file), node.getEnd()]
    if (start === end) return
    const last = file.getLineAndCharacterOfPosition(end - 1).line
    for (let line = file.getLineAndCharacterOfPosition(start).line; line <= last; line++) lines.add(line)
  }
  collect(file)
  return lines.size
}

/** The literal texts that calls of a function by this name begin with: `f('a')` gives `a`, `f({ name: 'a' })` with `property` gives `a`. */
export function firstArguments(path: string, text: string, callee: string, property?: string): readonly string[] {
  const found: string[] = []
  visit(parse(path, text), (node) => {
    if (!ts.isCallExpression(node) || !isNamed(node.expression, callee)) return
    const argument = property ? propertyOf(node.arguments[0], property) : node.arguments[0]
    if (argument && ts.isStringLiteralLike(argument)) found.push(argument.text)
  })
  return found
}

/** Whether a file does nothing but hand on what others export. */
export function onlyReExports(path: string, text: string): boolean {
  return parse(path, text).statements.every((statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined)
}

export function hasDefaultExport(path: string, text: string): boolean {
  return parse(path, text).statements.some(
    (statement) =>
      ts.isExportAssignment(statement) ||
      (ts.isExportDeclaration(statement) &&
        statement.exportClause !== undefined &&
        ts.isNamedExports(statement.exportClause) &&
        statement.exportClause.elements.some((element) => element.name.text === 'default')),
  )
}

function isErased(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword
}

function isNamed(expression: ts.Expression, name: string): boolean {
  return ts.isIdentifier(expression) && expression.text === name
}

function propertyOf(node: ts.Expression | undefined, name: string): ts.Expression | undefined {
  if (!node || !ts.isObjectLiteralExpression(node)) return undefined
  for (const property of node.properties) {
    if (ts.isPropertyAssignment(property) && ts.isIdentifier(property.name) && property.name.text === name) return property.initializer
  }
  return undefined
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node)
  ts.forEachChild(node, (child) => visit(child, look))
}

/** The rules look at the same files one after the other, and reading them is most of their time. */
const parsed = new Map<string, ts.SourceFile>()
const imports = new WeakMap<ts.SourceFile, readonly Import[]>()

function parse(path: string, text: string): ts.SourceFile {
  const known = parsed.get(path)
  if (known?.text === text) return known
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true)
  parsed.set(path, file)
  return file
}
