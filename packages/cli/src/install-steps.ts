import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'

type Dependencies = Readonly<Record<string, string>>

/** Of what a new plugin depends on. */
const NEEDED = ['@tenon/cli', '@tenon/kernel', '@tenon/plugin-tools', '@tenon/session', '@tenon/testkit', '@tenon/tools']

/**
 * The commands that install what a new plugin depends on. As long as no registry has Tenon's packages, they can only come from where
 * this program came from.
 *
 * @param own the folder of this package
 */
export function installSteps(own: string): readonly string[] {
  const checkout = path.resolve(own, '..', '..')
  const pack = path.join(checkout, 'examples', 'pack.mjs')
  if (existsSync(pack)) return [`node ${quoted(pack)}`, `npm install --save-dev ${quoted(path.join(checkout, '.cache', 'packed'))}/*.tgz`]
  const installed = installedBy(own)
  if (installed !== undefined && !/^(file|link|portal|workspace):/.test(installed.dependencies['@tenon/cli'] ?? '')) return ['npm install']
  const tarballs = installed === undefined ? [] : tarballsOf(installed)
  if (tarballs.length > 0 && tarballs.every((file) => existsSync(file))) {
    const folders = [...new Set(tarballs.map((file) => path.dirname(file)))]
    return [`npm install --save-dev ${folders.map((folder) => `${quoted(folder)}/tenon-*.tgz`).join(' ')}`]
  }
  const neighbours = path.resolve(own, '..', '..')
  if (NEEDED.every((name) => existsSync(path.join(neighbours, name)))) return [`npm install --save-dev ${quoted(path.join(neighbours, '@tenon'))}/*`]
  return [
    '# The packages of Tenon are in no registry: take the tarballs from where those of this installation came from.',
    'npm install --save-dev PATH/TO/tenon-*.tgz',
  ]
}

interface Installed {
  /** Of the project that asked for this package. */
  readonly folder: string
  readonly dependencies: Dependencies
}

function installedBy(own: string): Installed | undefined {
  for (let folder = path.dirname(own); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const dependencies = dependenciesIn(path.join(folder, 'package.json'))
    if (Object.hasOwn(dependencies, '@tenon/cli')) return { folder, dependencies }
  }
  return undefined
}

function dependenciesIn(manifest: string): Dependencies {
  try {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as Record<string, Dependencies>
    return { ...optionalDependencies, ...devDependencies, ...dependencies }
  } catch {
    return {}
  }
}

function tarballsOf({ folder, dependencies }: Installed): readonly string[] {
  const own = Object.entries(dependencies).filter(([name]) => name.startsWith('@tenon/'))
  return own.flatMap(([, from]) => (/^file:.*\.tgz$/.test(from) ? [path.resolve(folder, from.slice('file:'.length))] : []))
}

function quoted(file: string): string {
  return /^[\w./@+-]+$/.test(file) ? file : JSON.stringify(file)
}
