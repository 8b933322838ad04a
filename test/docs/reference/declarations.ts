import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** A source file that is parsed, and the package it belongs to. */
export interface Declarations {
  readonly package: string
  readonly source: ts.SourceFile
}

/** All sources of the packages, in the order of their names; conformance suites aside. */
export function declarationsIn(root: string): readonly Declarations[] {
  const groups = ['packages', 'plugins'].flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name)))
  return groups.toSorted().flatMap((folder) => {
    const { name } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { readonly name: string }
    const files = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (file) => file.endsWith('.ts') && !file.startsWith('conformance'),
    )
    return files.toSorted().map((file) => {
      const path = join(folder, 'src', file)
      return { package: name, source: ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true) }
    })
  })
}

/** The text of the documentation comment right before a node; '' without one. */
export function documentationOf(node: ts.Node): string {
  return documentationAt(node.getSourceFile(), node.getFullStart())
}

/** The text of the documentation comment that follows a position, before anything else does. */
export function documentationAt({ text }: ts.SourceFile, position: number): string {
  const comment = ts.getLeadingCommentRanges(text, position)?.findLast(({ pos }) => text.startsWith('/**', pos))
  if (comment === undefined) return ''
  const lines = text.slice(comment.pos + 3, comment.end - 2).split('\n')
  return lines
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
    .join('\n')
    .trim()
}

export function isExported(node: ts.HasModifiers): boolean {
  return ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true
}
