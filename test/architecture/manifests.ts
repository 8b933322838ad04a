import { parse } from 'yaml'
import { layerOf } from './layers.ts'
import { isCode, type Manifest, type Member, members, type Rule, type SourceTree, shipped } from './source-tree.ts'
import { firstArguments, hasDefaultExport, importsOf, onlyReExports, packageOf } from './syntax.ts'

export const manifestsHaveOneShape: Rule = (tree) =>
  published(tree).flatMap(({ folder, manifest }) => {
    const wanted = { name: packageName(folder), license: 'MIT', type: 'module', sideEffects: false, engines: { node: '>=20.19' } }
    const wrong = Object.entries(wanted).filter(([field, value]) => JSON.stringify(manifest[field]) !== JSON.stringify(value))
    const missing = ['version', 'description', 'exports', 'files'].filter((field) => !manifest[field])
    return [
      ...wrong.map(([field, value]) => `${folder}/package.json: ${field} is ${JSON.stringify(manifest[field])}, not ${JSON.stringify(value)}`),
      ...missing.map((field) => `${folder}/package.json: has no ${field}`),
    ]
  })

/** Sources for tests and types here, `dist` for everybody else; conditions are tried in the order in which they stand. */
export const exportsLeadToSourceTypesAndDefault: Rule = (tree) =>
  published(tree).flatMap(({ folder, manifest }) =>
    Object.entries(manifest.exports ?? {}).flatMap(([entry, target]) => {
      if (entry === './package.json') return target === entry ? [] : [`${folder}/package.json: exports ${entry} as something else`]
      const module = entry === '.' ? 'index' : `${entry.slice(2)}/index`
      const wanted = { '@tenon/source': `./src/${module}.ts`, types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` }
      if (JSON.stringify(target) !== JSON.stringify(wanted))
        return [`${folder}/package.json: exports ${entry} otherwise than ${JSON.stringify(wanted)}`]
      return tree.has(`${folder}/src/${module}.ts`) ? [] : [`${folder}/package.json: exports ${entry}, but there is no src/${module}.ts`]
    }),
  )

export const conformanceIsAnEntryWithVitestAsOptionalPeer: Rule = (tree) =>
  published(tree).flatMap(({ folder, manifest }) => {
    if (!tree.has(`${folder}/src/conformance/index.ts`)) return []
    return [
      ...(manifest.exports?.['./conformance'] ? [] : [`${folder}/package.json: does not export ./conformance`]),
      ...(manifest.peerDependenciesMeta?.vitest?.optional ? [] : [`${folder}/package.json: vitest is no optional peer`]),
    ]
  })

/** Both ways round: what is imported is declared, and what is declared is imported. */
export const dependenciesAreTheImports: Rule = (tree) =>
  published(tree).flatMap((member) => {
    const { folder, manifest } = member
    const declared = new Set([...Object.keys(manifest.dependencies ?? {}), ...Object.keys(manifest.peerDependencies ?? {})])
    const imported = importedPackages(shipped(tree, member))
    imported.delete(manifest.name ?? '')
    return [
      ...[...imported].filter((name) => !declared.has(name)).map((name) => `${folder}/package.json: imports ${name} without declaring it`),
      ...[...declared].filter((name) => !imported.has(name)).map((name) => `${folder}/package.json: declares ${name} without importing it`),
    ]
  })

export const testsImportWhatIsDeclared: Rule = (tree) => {
  const root = manifestAt(tree, 'package.json')
  return members(tree).flatMap(({ folder, manifest }) => {
    const declared = new Set([manifest.name ?? '', ...dependencyNames(manifest), ...dependencyNames(root)])
    const tests =
      folder === 'test' ? [...tree].filter(([path]) => path.startsWith('test/')) : [...tree].filter(([path]) => path.startsWith(`${folder}/test/`))
    const imported = importedPackages(tests.filter(([path]) => isCode(path) && !path.includes('/fixtures/')))
    return [...imported].filter((name) => !declared.has(name)).map((name) => `${folder}/package.json: its tests import ${name} without declaring it`)
  })
}

/** One version of everything that several packages use, in one place; and the same where the root needs it for a plain `npm install`. */
export const versionsComeFromTheCatalog: Rule = (tree) => {
  const { catalog = {} } = parse(tree.get('pnpm-workspace.yaml') ?? '{}') as { catalog?: Record<string, string> }
  const used = members(tree).flatMap(({ folder, manifest }) =>
    Object.entries({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies }).map(([name, range]) => ({
      folder,
      name,
      range,
    })),
  )
  const inMembers = used.flatMap(({ folder, name, range }) => {
    const shared = catalog[name] !== undefined || used.some((other) => other.name === name && other.folder !== folder)
    const wanted = name.startsWith('@tenon/') ? 'workspace:^' : 'catalog:'
    const right = range === wanted || (wanted === 'catalog:' && !shared && EXACT.test(range))
    return right ? [] : [`${folder}/package.json: ${name} is ${range}, not ${wanted}${shared ? '' : ' or one exact version'}`]
  })
  const inRoot = Object.entries(manifestAt(tree, 'package.json').devDependencies ?? {}).flatMap(([name, version]) => {
    const elsewhere = [catalog[name], ...used.map((use) => (use.name === name && EXACT.test(use.range) ? use.range : undefined))]
    const right = EXACT.test(version) && elsewhere.every((other) => other === undefined || other === version)
    return right ? [] : [`package.json: ${name} is ${version}, not the exact version that the workspace uses`]
  })
  return [...inMembers, ...inRoot]
}
const EXACT = /^(npm:[^@]+@)?\d+\.\d+\.\d+(-[\w.]+)?$/

/** `tsc -b` builds what is referenced: a missing reference compiles against yesterday's `dist`. */
export const referencesAreTheDependencies: Rule = (tree) => {
  const referenced = (path: string): string[] => {
    const { references = [] } = JSON.parse(tree.get(path) ?? '{}') as { references?: { path: string }[] }
    return references.map((reference) => new URL(`${reference.path}/`, `file:///${path}`).pathname.slice(1, -1)).sort()
  }
  const inMembers = published(tree).flatMap(({ folder, manifest }) => {
    const own = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter((name) => name.startsWith('@tenon/'))
    const wanted = own.map((name) => folderOf(name)).sort()
    const found = referenced(`${folder}/tsconfig.json`)
    return found.join() === wanted.join()
      ? []
      : [`${folder}/tsconfig.json: references ${found.join(', ')}; the dependencies are ${wanted.join(', ')}`]
  })
  const all = new Set(referenced('tsconfig.json'))
  const inRoot = published(tree).filter(({ folder }) => !all.has(folder))
  return [...inMembers, ...inRoot.map(({ folder }) => `tsconfig.json: does not reference ${folder}`)]
}

export const indexReExportsOrHoldsThePlugin: Rule = (tree) =>
  published(tree).flatMap((member) => {
    const path = `${member.folder}/src/index.ts`
    const text = tree.get(path)
    if (text === undefined) return []
    if (layerOf(member) === 'plugin') return hasDefaultExport(path, text) ? [] : [`${path}: a plugin is the default export`]
    return layerOf(member) === 'catalog' || onlyReExports(path, text) ? [] : [`${path}: does more than re-export`]
  })

export const pluginsAreNamedAsTheirFolder: Rule = (tree) =>
  published(tree).flatMap((member) => {
    if (layerOf(member) !== 'plugin') return []
    const names = shipped(tree, member).flatMap(([path, text]) => firstArguments(path, text, 'definePlugin', 'name'))
    const wanted = member.folder.slice('plugins/'.length)
    return names.join() === wanted
      ? []
      : [`${member.folder}: defines ${names.map((name) => `"${name}"`).join(', ') || 'no plugin'}, not one "${wanted}"`]
  })

export const capabilityKeysAreKebabCase: Rule = (tree) =>
  published(tree).flatMap((member) =>
    shipped(tree, member).flatMap(([path, text]) =>
      firstArguments(path, text, 'capability')
        .filter((key) => !/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(key))
        .map((key) => `${path}: the key "${key}" is not kebab-case`),
    ),
  )

function published(tree: SourceTree): readonly Member[] {
  return members(tree).filter(({ manifest }) => manifest.private !== true)
}

function packageName(folder: string): string {
  return folder.startsWith('plugins/') ? `@tenon/plugin-${folder.slice('plugins/'.length)}` : `@tenon/${folder.slice(folder.lastIndexOf('/') + 1)}`
}

function folderOf(name: string): string {
  const short = name.slice('@tenon/'.length)
  if (short === 'catalog') return short
  return short.startsWith('plugin-') ? `plugins/${short.slice('plugin-'.length)}` : `packages/${short}`
}

function importedPackages(files: readonly (readonly [path: string, text: string])[]): Set<string> {
  return new Set(files.flatMap(([path, text]) => importsOf(path, text).flatMap(({ from }) => packageOf(from) ?? [])))
}

function dependencyNames(manifest: Manifest): readonly string[] {
  return Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies })
}

function manifestAt(tree: SourceTree, path: string): Manifest {
  return JSON.parse(tree.get(path) ?? '{}') as Manifest
}
