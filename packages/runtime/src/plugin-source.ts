import path from 'node:path'

/** Where the code of a row is. */
export type PluginSource =
  | { readonly kind: 'first-party'; readonly name: string }
  | { readonly kind: 'path'; readonly path: string }
  /** `folder`: of the file that named it; looked up from there first. */
  | { readonly kind: 'package'; readonly name: string; readonly folder: string }

/** `use` as written in a file of `folder`. A first-party short name wins over a package of that name. */
export function sourceOf(use: string, folder: string, isFirstParty: (name: string) => boolean): PluginSource {
  if (isFirstParty(use)) return { kind: 'first-party', name: use }
  if (/^\.{1,2}([/\\]|$)/.test(use) || path.isAbsolute(use)) return { kind: 'path', path: path.resolve(folder, use) }
  return { kind: 'package', name: use, folder }
}

/** Equal for equal code. */
export function sourceKey(source: PluginSource): string {
  switch (source.kind) {
    case 'first-party':
      return `first-party ${source.name}`
    case 'path':
      return `path ${source.path}`
    case 'package':
      return `package ${source.name} from ${source.folder}`
  }
}
