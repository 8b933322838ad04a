import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The text files of a checkout: path from the root, with slashes, to content. A rule reads nothing else. */
export type SourceTree = ReadonlyMap<string, string>

/** What a rule finds: `path: what is wrong and what would be right`. Empty when it holds. */
export type Rule = (tree: SourceTree) => readonly string[]

/** Every file that git knows or would add. */
export function readTree(root: string): SourceTree {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  const paths = listed.split('\0').filter((path) => path !== '' && existsSync(join(root, path)))
  return new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** A member of the workspace, by its folder. */
export interface Member {
  readonly folder: string
  readonly manifest: Manifest
}

export interface Manifest {
  readonly name?: string
  readonly private?: boolean
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly [field: string]: unknown
}

export function members(tree: SourceTree): readonly Member[] {
  return [...tree].flatMap(([path, text]) => {
    const folder = /^((?:packages|plugins)\/[^/]+|catalog|test)\/package\.json$/.exec(path)?.[1]
    return folder ? [{ folder, manifest: JSON.parse(text) as Manifest }] : []
  })
}

/** The files of one member that users run: its sources and its executables. */
export function shipped(tree: SourceTree, { folder }: Member): readonly [path: string, text: string][] {
  return [...tree].filter(([path]) => isCode(path) && (path.startsWith(`${folder}/src/`) || path.startsWith(`${folder}/bin/`)))
}

export function isCode(path: string): boolean {
  return /\.[cm]?[jt]s$/.test(path)
}
