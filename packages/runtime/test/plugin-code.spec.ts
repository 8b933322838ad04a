import { capability } from '@tenon/kernel'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type CheckReport, checkCatalog } from '../src/index.ts'
import { folder } from './folder.ts'

const plugin = (name: string, extra = ''): string => `import { definePlugin } from '@tenon/kernel'
${extra}
export default definePlugin({ name: '${name}', activate() {} })
`

async function check(use: string, files: Readonly<Record<string, string>>): Promise<CheckReport & { readonly folder: string }> {
  const dir = await folder({ 'top.yaml': `plugins:\n  it: ${use}\n`, ...files })
  return { ...(await checkCatalog(dir.file('top.yaml'), { firstParty: [], host: { env: {} } })), folder: dir.path }
}

const loaded = ({ composition }: CheckReport) => composition.rows[0]?.loaded

it.each(['it.ts', 'it.js', 'it.mjs', 'it.mts', 'deep/er/it.ts'])('CP-06 a plugin by relative path: ./%s', async (name) => {
  const report = await check(`./${name}`, { [name]: plugin('it') })
  expect(report.diagnostics).toEqual([])
  expect(loaded(report)?.plugin.name).toBe('it')
  expect([...(loaded(report)?.files.keys() ?? [])]).toEqual([`${report.folder}/${name}`])
})

it('CP-06 a relative path starts at the file that wrote it', async () => {
  const dir = await folder({
    'top.yaml': 'extends: ./sub/base.yaml\n',
    'sub/base.yaml': 'plugins:\n  it: ./it.ts\n',
    'sub/it.ts': plugin('from-sub'),
  })
  const report = await checkCatalog(dir.file('top.yaml'), { firstParty: [] })
  expect(loaded(report)?.plugin.name).toBe('from-sub')
})

it('CP-06 a plugin of several files gets the kernel of the runtime, and may use TypeScript, decorators and JSON', async () => {
  const report = await check('./it.ts', {
    'it.ts': `import { capability, definePlugin, inject } from '@tenon/kernel'
import { z } from 'zod'
import data from './data.json'
import { type Shape, Colour } from './shape.ts'
const Thing = capability<Shape>('thing')
class Holder { constructor(@inject(Thing) readonly thing: Shape) {} }
export default definePlugin({
  name: data.name,
  inject: [Thing],
  config: z.strictObject({ colour: z.enum(Colour).default(Colour.Red), path: z.string().default(import.meta.url) }).prefault({}),
  activate(scope) { scope.construct(Holder) },
})
`,
    'shape.ts': 'export interface Shape { readonly size: number }\nexport enum Colour { Red = "red", Blue = "blue" }\n',
    'data.json': '{ "name": "several-files" }',
  })
  expect(report.diagnostics.map(({ code }) => code)).toEqual(['CAPABILITY_MISSING'])
  const { plugin: it, files } = loaded(report) ?? {}
  expect(it?.name).toBe('several-files')
  expect(it?.inject[0]?.symbol).toBe(capability('thing').symbol)
  expect(it?.config).toBeInstanceOf(z.ZodType)
  expect(it?.config?.parse({})).toEqual({ colour: 'red', path: `file://${report.folder}/it.ts` })
  expect([...(files?.keys() ?? [])].map((file) => file.slice(report.folder.length + 1)).toSorted()).toEqual(['data.json', 'it.ts', 'shape.ts'])
})

it('CP-06 default, named and namespace imports of packages mean what they mean in Node', async () => {
  const report = await check('./it.ts', {
    'it.ts': `import { definePlugin } from '@tenon/kernel'
import path, { join } from 'node:path'
import * as fs from 'fs'
import both, { named } from 'both'
import cjs from 'cjs-only'
if (path.join !== join || typeof fs.readFileSync !== 'function') throw new Error('built-in')
if (both !== 'default' || named !== 'named' || cjs() !== 'called') throw new Error('package')
const later = (await0()).then((module) => module.named)
function await0() { return import('both') }
export default definePlugin({ name: 'imports', async activate() { if ((await later) !== 'named') throw new Error('dynamic') } })
`,
    'node_modules/both/package.json': '{ "name": "both", "type": "module", "exports": { "import": "./index.js" } }',
    'node_modules/both/index.js': 'const wait = await Promise.resolve("named")\nexport default "default"\nexport const named = wait\n',
    'node_modules/cjs-only/package.json': '{ "name": "cjs-only", "main": "./index.cjs" }',
    'node_modules/cjs-only/index.cjs': 'module.exports = () => "called"\n',
  })
  expect(report.diagnostics).toEqual([])
  await loaded(report)?.plugin.activate({})
})

it('CP-06 a plugin may use what Node 20 cannot run itself, and ask where it is', async () => {
  const report = await check('./deep/it.ts', {
    'deep/it.ts': `import { definePlugin } from '@tenon/kernel'
import { word } from '#words'
import { upper } from './upper'
if (!import.meta.dirname.endsWith('/deep') || !import.meta.filename.endsWith('/deep/it.ts')) throw new Error('where')
export default definePlugin({
  name: 'modern',
  async activate() {
    const log: string[] = []
    { await using resource = { async [Symbol.asyncDispose]() { log.push('disposed') } }; log.push(typeof resource) }
    if (log.join() !== 'object,disposed' || upper(word) !== 'INNER') throw new Error(log.join() + upper(word))
  },
})
`,
    'deep/words.ts': "export const word = 'inner' satisfies string\n",
    'deep/upper.ts': 'export const upper = (text: string): string => text.toUpperCase()\n',
    'deep/package.json': '{ "type": "module", "imports": { "#words": "./words.ts" } }',
  })
  expect(report.diagnostics).toEqual([])
  await loaded(report)?.plugin.activate({})
  expect([...(loaded(report)?.files.keys() ?? [])].map((file) => file.slice(report.folder.length + 1)).toSorted()).toEqual([
    'deep/it.ts',
    'deep/upper.ts',
    'deep/words.ts',
  ])
})

it('CP-06 a CommonJS plugin may require packages, built-ins and the kernel', async () => {
  const report = await check('./it.cjs', {
    'it.cjs': `const { definePlugin } = require('@tenon/kernel')
const add = require('adder')
if (require('node:path').join('a', 'b') !== require('path').join('a', 'b') || add(1, 2) !== 3) throw new Error('required')
module.exports = definePlugin({ name: 'common', activate() {} })
`,
    'node_modules/adder/package.json': '{ "name": "adder", "main": "./index.js" }',
    'node_modules/adder/index.js': 'module.exports = (a, b) => a + b\n',
  })
  expect(report.diagnostics).toEqual([])
  expect(loaded(report)?.plugin.name).toBe('common')
})

it("CP-06 a package is found from the catalog's folder, however it exports", async () => {
  const packages = {
    'esm-only': ['{ "name": "esm-only", "type": "module", "exports": { ".": { "import": "./it.js" } } }', 'it.js'],
    '@scope/deep': ['{ "name": "@scope/deep", "type": "module", "exports": { "./plugin": "./lib/it.js" } }', 'lib/it.js'],
    plain: ['{ "name": "plain", "type": "module", "main": "it.js" }', 'it.js'],
  } as const
  for (const [name, [manifest, file]] of Object.entries(packages)) {
    const code = `export default { name: 'from-package', inject: [], provides: [], config: undefined, budgets: {}, activate() {} }\n`
    const files = { [`node_modules/${name}/package.json`]: manifest, [`node_modules/${name}/${file}`]: code }
    const report = await check(name === '@scope/deep' ? "'@scope/deep/plugin'" : name, files)
    expect(report.diagnostics, name).toEqual([])
    expect(loaded(report)?.plugin.name).toBe('from-package')
  }
})

it.each([
  ["'@acme/notes/tool'", '@acme/notes'],
  ['lodash/merge', 'lodash'],
])('CP-06 of %s it is the package that is to be installed', async (use, name) => {
  const report = await check(use, {})
  expect(report.diagnostics).toMatchObject([{ code: 'PLUGIN_UNKNOWN', hint: expect.stringContaining(`\`npm install ${name}\` in `) }])
})

it('CP-06 a package that is not there names the folders and the command that installs it', async () => {
  const report = await check("'@acme/shell'", {})
  expect(report.diagnostics).toMatchObject([
    {
      code: 'PLUGIN_UNKNOWN',
      message: expect.stringMatching(
        /^row "it": there is no first-party plugin and no package "@acme\/shell" \(searched from .*node_modules and .*node_modules upwards\)$/,
      ),
      hint: `install it with \`npm install @acme/shell\` in ${report.folder}, or write a path that starts with ./`,
      line: 2,
      column: 7,
    },
  ])
})

it.each([
  ['a syntax error', { 'it.ts': 'export default {\n  a: ,\n}\n' }, 'PLUGIN_LOAD_FAILED', /it\.ts:2:6: Unexpected token/],
  [
    'a missing file of its own',
    { 'it.ts': "import { x } from './nope.ts'\nexport default x\n" },
    'PLUGIN_LOAD_FAILED',
    /it\.ts:1:19: Could not resolve '\.\/nope\.ts'$/,
  ],
  [
    'a missing package',
    { 'it.ts': "import x from 'nope/deep'\nexport default x\n" },
    'PLUGIN_LOAD_FAILED',
    /it\.ts imports "nope\/deep", which is not there/,
  ],
  [
    'a name that is not exported',
    { 'it.ts': "import { nope } from '@tenon/kernel'\nexport default nope\n" },
    'PLUGIN_LOAD_FAILED',
    /"nope" is not exported by "@tenon\/kernel"/,
  ],
  ['top-level await', { 'it.ts': 'await 1\nexport default 1\n' }, 'PLUGIN_LOAD_FAILED', /it\.ts:1:1: top-level await$/],
  ['a throw', { 'it.ts': "throw new Error('boom')\n" }, 'PLUGIN_LOAD_FAILED', /it\.ts throws when it is imported: boom$/],
  [
    'a member that is not there',
    { 'it.ts': "import { z } from 'zod'\nexport default z.strictObjct({})\n" },
    'PLUGIN_LOAD_FAILED',
    /throws when it is imported: .*\bz\$?\.strictObjct is not a function$/,
  ],
  ['a throw of something odd', { 'it.ts': 'throw Object.create(null)\n' }, 'PLUGIN_LOAD_FAILED', /<unprintable thrown value>$/],
  [
    'no default export',
    { 'it.ts': `${plugin('it').replace('default', 'const it =').replace('export const it = definePlugin', 'export const it = definePlugin')}` },
    'PLUGIN_INVALID',
    /has no plugin as its default export$/,
  ],
  ['another default export', { 'it.ts': 'export default class {}\n' }, 'PLUGIN_INVALID', /has no plugin as its default export$/],
  ['a name that is no name', { 'it.ts': plugin('It!') }, 'PLUGIN_LOAD_FAILED', /plugin name "It!" is not kebab-case/],
])('CP-06 %s in a plugin is told at its `use`, with the place in its source', async (_, files, code, message) => {
  const report = await check('./it.ts', files)
  expect(report.diagnostics).toMatchObject([{ code, line: 2, column: 7, message: expect.stringMatching(message) }])
})

it.each([
  ['./empty', 'PLUGIN_LOAD_FAILED', /empty is a folder without code to load$/, /^name the file in it/],
  ['/dev/null', 'PLUGIN_INVALID', /\/dev\/null is neither a file nor a folder$/, /^write the path of a/],
  ['~/a.js', 'PLUGIN_UNKNOWN', /^row "it": "~\/a\.js" starts with a home folder/, /^write "\$\{env:HOME\}\/a\.js"$/],
  ['~ann/a.js', 'PLUGIN_UNKNOWN', /^row "it": "~ann\/a\.js" starts with a home folder/, /^write the whole path$/],
  ["'a b'", 'PLUGIN_UNKNOWN', /^row "it": there is no plugin "a b"$/, /^first-party plugins are .*; a path starts with \.\/$/],
  ["'@scope'", 'PLUGIN_UNKNOWN', /^row "it": there is no plugin "@scope"$/, /^first-party plugins are /],
  ["'UPPER'", 'PLUGIN_UNKNOWN', /^row "it": there is no plugin "UPPER"$/, /^first-party plugins are /],
])('CP-06 what names no code, and no package that could be installed, is told as what it is: %s', async (use, code, message, hint) => {
  const report = await check(use, { 'empty/notes.txt': '' })
  expect(report.diagnostics).toMatchObject([{ code, message: expect.stringMatching(message), hint: expect.stringMatching(hint) }])
})
