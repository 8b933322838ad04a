import { homedir } from 'node:os'
import { isCode, members, type Rule } from './source-tree.ts'
import { codeLines } from './syntax.ts'

const SOURCE_LINES = 250
const TEST_LINES = 400
/** docs/adr/0006-kernel-size.md */
const KERNEL_LINES = 2_300
const README_LINES = 60

const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*$/
const SAYS_NOTHING = /(^|-)(utils?|helpers?|common|misc|types)$/

export const filesAreNamedAfterTheOneThingInside: Rule = (tree) =>
  [...tree.keys()].filter(isOurCode).flatMap((path) => {
    const parts = path.split('/')
    const [name = '', ...aspects] = (parts.pop() ?? '').replace(/\.[cm]?[jt]s$/, '').split('.')
    const folders = parts.filter((folder) => !folder.startsWith('.'))
    const odd = [name, ...aspects, ...folders].filter((word) => !KEBAB.test(word))
    // A spec is named after its subject, and types can be one.
    const empty = [...(path.endsWith('.spec.ts') ? [] : [name]), ...folders].filter((word) => SAYS_NOTHING.test(word))
    return [...odd.map((word) => `${path}: "${word}" is not kebab-case`), ...empty.map((word) => `${path}: "${word}" does not say what is inside`)]
  })

export const testsLieInTest: Rule = (tree) =>
  [...tree.keys()]
    .filter((path) => /\.(spec|test)\.[cm]?[jt]s$/.test(path))
    .flatMap((path) => {
      if (!/^(test|(packages|plugins|examples)\/[^/]+\/test|catalog\/test)\//.test(path))
        return [`${path}: lies outside a test folder, where nobody runs it`]
      return path.endsWith('.spec.ts') ? [] : [`${path}: a test ends in .spec.ts, or nobody runs it`]
    })

export const filesKeepTheirBudget: Rule = (tree) =>
  [...tree]
    .filter(([path]) => isOurCode(path))
    .flatMap(([path, text]) => {
      const budget = isTest(path) ? TEST_LINES : SOURCE_LINES
      const lines = codeLines(path, text)
      return lines > budget ? [`${path}: ${lines} lines of code, the budget is ${budget}`] : []
    })

export const theKernelKeepsItsBudget: Rule = (tree) => {
  const files = [...tree].filter(([path]) => path.startsWith('packages/kernel/src/') && isCode(path))
  const lines = files.reduce((sum, [path, text]) => sum + codeLines(path, text), 0)
  return lines > KERNEL_LINES ? [`packages/kernel: ${lines} lines of code, the budget is ${KERNEL_LINES}`] : []
}

export const everyMemberHasAShortReadme: Rule = (tree) =>
  members(tree)
    .filter(({ manifest }) => manifest.private !== true)
    .flatMap(({ folder }) => {
      const text = tree.get(`${folder}/README.md`)
      if (text === undefined) return [`${folder}: has no README.md`]
      const lines = text.trimEnd().split('\n').length
      return lines > README_LINES ? [`${folder}/README.md: ${lines} lines, at most ${README_LINES}`] : []
    })

// Put together from parts, so that this file keeps the rules it states.
const HOSTS = new RegExp(
  ['npmjs', 'yarnpkg', 'npmmirror', 'pkg\\.github', 'jsr\\.io'].map((name) => `(registry|npm|www)\\.${name}|://${name}`).join('|'),
)
const ADDRESS = /^\s*(tarball|resolved):|https?:\/\//m
/** Ada does not exist: whoever needs a home in an example takes hers. */
const HOMES = new RegExp(
  [...['root', 'home/(?!ada/)[a-z_][\\w-]*', 'Users/(?!ada/)[A-Za-z][\\w-]*'].map((place) => `(?<![\\w.}])/${place}/`), '[A-Z]:\\\\Users\\\\'].join(
    '|',
  ),
)

export const noRegistryIsNamed: Rule = (tree) =>
  [...tree].flatMap(([path, text]) => {
    if (path.endsWith('pnpm-lock.yaml') && ADDRESS.test(text)) return [`${path}: holds an address`]
    const host = HOSTS.exec(text)
    return host ? [`${path}: names the registry "${host[0]}"`] : []
  })

/** Neither a home of somebody nor the folder in which this checkout happens to lie. */
export function noMachineIsNamed(root: string): Rule {
  return (tree) =>
    [...tree].flatMap(([path, text]) => {
      const own = [root, `${homedir()}/`].find((place) => place.length > 1 && text.includes(place))
      const place = own ?? HOMES.exec(text)?.[0]
      return place ? [`${path}: names "${place}", a place on one machine`] : []
    })
}

function isOurCode(path: string): boolean {
  return isCode(path) && !path.includes('/fixtures/')
}

function isTest(path: string): boolean {
  return /(^|\/)test\//.test(path)
}
