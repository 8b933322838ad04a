import { type Member, members, type Rule, shipped } from './source-tree.ts'
import { importsOf, packageOf } from './syntax.ts'

/** What a member is. Whoever adds a package says so here. */
const CONTRACTS = ['subprocess', 'shell', 'shell-env', 'session', 'jobs', 'tools', 'system-prompt']
const LIBRARIES = ['abort-hub', 'announcer', 'local-shell', 'newest-line', 'shell-tool']

type Layer = 'kernel' | 'contract' | 'library' | 'testkit' | 'plugin' | 'catalog' | 'runtime' | 'cli' | 'test'

/** What each layer may import. Contracts among themselves: see `CONTRACT_EDGES`. */
const BELOW: Readonly<Record<Layer, readonly Layer[]>> = {
  kernel: [],
  contract: ['kernel', 'contract'],
  library: ['kernel', 'contract', 'library'],
  testkit: ['kernel', 'contract', 'library'],
  // Not the testkit: a plugin that ships it has taken a test for a part.
  plugin: ['kernel', 'contract', 'library'],
  catalog: ['kernel', 'contract', 'library', 'plugin'],
  // Plugins are reached through the catalog, or they could not be replaced from it.
  runtime: ['kernel', 'contract', 'library', 'catalog'],
  cli: ['kernel', 'contract', 'library', 'catalog', 'runtime'],
  test: ['kernel', 'contract', 'library', 'testkit', 'plugin', 'catalog', 'runtime', 'cli'],
}

const CONTRACT_EDGES = ['shell → subprocess', 'shell-env → subprocess', 'jobs → session', 'tools → session', 'system-prompt → session']

/** Modules of Node that reach outside the process. Their types are fine: a contract may speak of streams. */
const IO = /^node:(child_process|cluster|dgram|dns|fs|http|http2|https|inspector|net|os|process|readline|repl|stream|tls|tty|worker_threads)(\/|$)/

const SPAWNERS = ['node:child_process', 'child_process', 'node:cluster', 'cross-spawn', 'execa', 'pidtree']

export const everyMemberHasALayer: Rule = (tree) =>
  members(tree).flatMap((member) =>
    layerOf(member) ? [] : [`${member.folder}: is neither a contract nor a library; say what it is in test/architecture/layers.ts`],
  )

export const importsPointDown: Rule = (tree) => {
  const byName = new Map(members(tree).map((member) => [member.manifest.name, member]))
  return forEachImport(tree, (member, path, { from }) => {
    const target = byName.get(packageOf(from) ?? '')
    const [layer, below] = [layerOf(member), target && layerOf(target)]
    if (!layer || !below || !target || target === member) return undefined
    if (!BELOW[layer].includes(below)) return `${path}: a ${layer} imports ${from}, a ${below}`
    const edge = `${nameOf(member)} → ${nameOf(target)}`
    if (layer === 'contract' && below === 'contract' && !CONTRACT_EDGES.includes(edge)) return `${path}: between contracts there is no edge ${edge}`
    return undefined
  })
}

/** A relative path out of the package would go round every other rule. */
export const importsStayInside: Rule = (tree) =>
  forEachImport(tree, ({ folder }, path, { from }) => {
    if (!from.startsWith('.')) return undefined
    const target = new URL(from, `file:///${path}`).pathname.slice(1)
    return target.startsWith(`${folder}/`) ? undefined : `${path}: leaves its package by ${from}`
  })

export const contractsDoNoIo: Rule = (tree) =>
  forEachImport(tree, (member, path, { from, typeOnly }) => {
    if (layerOf(member) !== 'contract' || path.startsWith(`${member.folder}/src/conformance/`)) return undefined
    return IO.test(from) && !typeOnly ? `${path}: a contract imports ${from}` : undefined
  })

export const onlyLocalSubprocessSpawns: Rule = (tree) =>
  forEachImport(tree, ({ folder }, path, { from, typeOnly }) => {
    if (!/^(packages|plugins)\//.test(folder) || folder === 'plugins/local-subprocess') return undefined
    return SPAWNERS.includes(from) && !typeOnly ? `${path}: imports ${from}; inject Subprocess instead` : undefined
  })

export const oneFileImportsTsyringe: Rule = (tree) => {
  const files = new Set<string>()
  forEachImport(tree, (_, path, { from }) => {
    if (packageOf(from) === 'tsyringe') files.add(path)
    return undefined
  })
  const [only] = files
  if (files.size === 1 && only?.startsWith('packages/kernel/src/')) return []
  return [`tsyringe is imported by ${[...files].join(', ') || 'no file'}; one file of the kernel does`]
}

/** Specs of the `unit` project share a process, so one that starts others has to say so by its name. */
export const unitSpecsStartNoProcess: Rule = (tree) =>
  [...tree].flatMap(([path, text]) => {
    if (!/(^|\/)test\/.*\.spec\.ts$/.test(path) || /\.(process|e2e)\.spec\.ts$/.test(path)) return []
    const spawners = importsOf(path, text).filter(({ from, typeOnly }) => SPAWNERS.includes(from) && !typeOnly)
    return spawners.map(({ from }) => `${path}: imports ${from}, so its name ends in .process.spec.ts or .e2e.spec.ts`)
  })

export function layerOf(member: Member): Layer | undefined {
  const [group = '', name] = member.folder.split('/')
  if (group === 'plugins') return 'plugin'
  if (group === 'catalog' || group === 'test') return group
  if (name === 'kernel' || name === 'runtime' || name === 'cli' || name === 'testkit') return name
  if (name && CONTRACTS.includes(name)) return 'contract'
  return name && LIBRARIES.includes(name) ? 'library' : undefined
}

function nameOf({ folder }: Member): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}

function forEachImport(
  tree: Parameters<Rule>[0],
  judge: (member: Member, path: string, found: ReturnType<typeof importsOf>[number]) => string | undefined,
): readonly string[] {
  return members(tree).flatMap((member) =>
    shipped(tree, member).flatMap(([path, text]) => importsOf(path, text).flatMap((found) => judge(member, path, found) ?? [])),
  )
}
