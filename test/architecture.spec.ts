import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import * as files from './architecture/files.ts'
import * as layers from './architecture/layers.ts'
import * as manifests from './architecture/manifests.ts'
import { contract, manifest, plugin, smallTree } from './architecture/small-tree.ts'
import { type Rule, readTree } from './architecture/source-tree.ts'
import { codeLines, importsOf } from './architecture/syntax.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** A rule, and violations that it has to catch: what is planted, and what it says. */
interface Held {
  readonly title: string
  readonly rule: Rule
  readonly violations: readonly (readonly [planted: Readonly<Record<string, string | undefined>>, said: string])[]
}

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `f(${n})`).join('\n')
const packageJson = (folder: string, dependencies: readonly string[], changes?: Record<string, unknown>) => ({
  [`${folder}/package.json`]: manifest(folder, dependencies, changes),
})

const LAYERS: readonly Held[] = [
  {
    title: 'every package is known as what it is',
    rule: layers.everyMemberHasALayer,
    violations: [
      [packageJson('packages/stuff', []), 'packages/stuff: is neither a contract nor a library; say what it is in test/architecture/layers.ts'],
    ],
  },
  {
    title: 'catalog → plugins → libraries → contracts → kernel, and no arrow back',
    rule: layers.importsPointDown,
    violations: [
      [{ 'packages/kernel/src/a.ts': `import '@tenon/shell'` }, 'packages/kernel/src/a.ts: a kernel imports @tenon/shell, a contract'],
      [
        { 'packages/shell/src/a.ts': `export type { X } from '@tenon/local-shell'` },
        'packages/shell/src/a.ts: a contract imports @tenon/local-shell, a library',
      ],
      [
        { 'packages/local-shell/src/a.ts': `await import('@tenon/plugin-local-bash')` },
        'packages/local-shell/src/a.ts: a library imports @tenon/plugin-local-bash, a plugin',
      ],
      [
        { ...packageJson('plugins/tools', []), 'plugins/tools/src/a.ts': `import x from '@tenon/plugin-local-bash'` },
        'plugins/tools/src/a.ts: a plugin imports @tenon/plugin-local-bash, a plugin',
      ],
      [
        { ...packageJson('packages/runtime', []), 'packages/runtime/src/a.ts': `type T = import('@tenon/plugin-local-bash').T` },
        'packages/runtime/src/a.ts: a runtime imports @tenon/plugin-local-bash, a plugin',
      ],
    ],
  },
  {
    title: 'contracts know each other by the allowed edges only',
    rule: layers.importsPointDown,
    violations: [
      [
        { 'packages/subprocess/src/a.ts': `import type { S } from '@tenon/shell'` },
        'packages/subprocess/src/a.ts: between contracts there is no edge subprocess → shell',
      ],
    ],
  },
  {
    title: 'no relative import leaves its package',
    rule: layers.importsStayInside,
    violations: [
      [
        { 'plugins/local-bash/src/a.ts': `import '../../local-pwsh/src/index.ts'` },
        'plugins/local-bash/src/a.ts: leaves its package by ../../local-pwsh/src/index.ts',
      ],
    ],
  },
  {
    title: 'contracts do no I/O, except to be proven',
    rule: layers.contractsDoNoIo,
    violations: [
      [{ 'packages/shell/src/a.ts': `import { readFile } from 'node:fs/promises'` }, 'packages/shell/src/a.ts: a contract imports node:fs/promises'],
      [
        { 'packages/shell/src/a.ts': `import type { Readable } from 'node:stream'`, 'packages/shell/src/b.ts': `import 'node:net'` },
        'packages/shell/src/b.ts: a contract imports node:net',
      ],
    ],
  },
  {
    title: 'of packages and plugins only local-subprocess starts processes',
    rule: layers.onlyLocalSubprocessSpawns,
    violations: [
      [
        { 'plugins/local-bash/src/a.ts': `import spawn from 'cross-spawn'` },
        'plugins/local-bash/src/a.ts: imports cross-spawn; inject Subprocess instead',
      ],
      [
        { 'packages/shell/src/conformance/index.ts': `const { spawn } = require('node:child_process')` },
        'packages/shell/src/conformance/index.ts: imports node:child_process; inject Subprocess instead',
      ],
    ],
  },
  {
    title: 'exactly one file imports tsyringe',
    rule: layers.oneFileImportsTsyringe,
    violations: [
      [
        { 'packages/kernel/src/a.ts': `import { container } from 'tsyringe'` },
        'tsyringe is imported by packages/kernel/src/construct.ts, packages/kernel/src/a.ts; one file of the kernel does',
      ],
      [{ 'packages/kernel/src/construct.ts': undefined }, 'tsyringe is imported by no file; one file of the kernel does'],
    ],
  },
  {
    title: 'specs that share a process start none',
    rule: layers.unitSpecsStartNoProcess,
    violations: [
      [
        { 'plugins/local-bash/test/a.spec.ts': `import { spawn } from 'node:child_process'` },
        'plugins/local-bash/test/a.spec.ts: imports node:child_process, so its name ends in .process.spec.ts or .e2e.spec.ts',
      ],
    ],
  },
]

const MANIFESTS: readonly Held[] = [
  {
    title: 'manifests have one shape',
    rule: manifests.manifestsHaveOneShape,
    violations: [
      [packageJson('packages/shell', [], { name: 'shell' }), 'packages/shell/package.json: name is "shell", not "@tenon/shell"'],
      [
        packageJson('packages/shell', [], { engines: { node: '>=22' } }),
        'packages/shell/package.json: engines is {"node":">=22"}, not {"node":">=20.19"}',
      ],
      [packageJson('packages/shell', [], { description: undefined }), 'packages/shell/package.json: has no description'],
    ],
  },
  {
    title: 'exports lead to source, types and default, in this order',
    rule: manifests.exportsLeadToSourceTypesAndDefault,
    violations: [
      [
        packageJson('packages/shell', [], {
          exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js', '@tenon/source': './src/index.ts' } },
        }),
        'packages/shell/package.json: exports . otherwise than {"@tenon/source":"./src/index.ts","types":"./dist/index.d.ts","default":"./dist/index.js"}',
      ],
      [
        packageJson('packages/shell', [], {
          exports: { './x': { '@tenon/source': './src/x/index.ts', types: './dist/x/index.d.ts', default: './dist/x/index.js' } },
        }),
        'packages/shell/package.json: exports ./x, but there is no src/x/index.ts',
      ],
    ],
  },
  {
    title: 'a conformance suite is an entry of its own, with vitest as an optional peer',
    rule: manifests.conformanceIsAnEntryWithVitestAsOptionalPeer,
    violations: [
      [
        { 'packages/shell/src/conformance/index.ts': '' },
        'packages/shell/package.json: does not export ./conformance\npackages/shell/package.json: vitest is no optional peer',
      ],
    ],
  },
  {
    title: 'the dependencies of a package are what it imports',
    rule: manifests.dependenciesAreTheImports,
    violations: [
      [{ 'packages/local-shell/src/a.ts': `import { z } from 'zod'` }, 'packages/local-shell/package.json: imports zod without declaring it'],
      [packageJson('packages/local-shell', ['@tenon/shell', 'zod']), 'packages/local-shell/package.json: declares zod without importing it'],
    ],
  },
  {
    title: 'tests import what their package or the root declares',
    rule: manifests.testsImportWhatIsDeclared,
    violations: [
      [
        { 'packages/shell/test/a.spec.ts': `import '@tenon/testkit'\nimport 'vitest'` },
        'packages/shell/package.json: its tests import @tenon/testkit without declaring it',
      ],
    ],
  },
  {
    title: 'versions come from the catalog of the workspace',
    rule: manifests.versionsComeFromTheCatalog,
    violations: [
      [
        packageJson('packages/shell', [], { dependencies: { zod: '^4.0.0' } }),
        'packages/shell/package.json: zod is ^4.0.0, not catalog: or one exact version',
      ],
      [packageJson('packages/shell', [], { dependencies: { vitest: '4.1.12' } }), 'packages/shell/package.json: vitest is 4.1.12, not catalog:'],
      [
        packageJson('packages/shell', [], { dependencies: { '@tenon/kernel': '1.0.0' } }),
        'packages/shell/package.json: @tenon/kernel is 1.0.0, not workspace:^',
      ],
      [
        { 'package.json': '{ "devDependencies": { "vitest": "4.1.11" } }' },
        'package.json: vitest is 4.1.11, not the exact version that the workspace uses',
      ],
      [
        { 'package.json': '{ "devDependencies": { "vitest": "catalog:" } }' },
        'package.json: vitest is catalog:, not the exact version that the workspace uses',
      ],
    ],
  },
  {
    title: 'project references are the dependencies, and the root references everything',
    rule: manifests.referencesAreTheDependencies,
    violations: [
      [{ 'packages/local-shell/tsconfig.json': '{}' }, 'packages/local-shell/tsconfig.json: references ; the dependencies are packages/shell'],
      [{ ...packageJson('packages/jobs', []), 'packages/jobs/tsconfig.json': '{}' }, 'tsconfig.json: does not reference packages/jobs'],
    ],
  },
  {
    title: 'index.ts re-exports, or holds the plugin',
    rule: manifests.indexReExportsOrHoldsThePlugin,
    violations: [
      [{ 'packages/shell/src/index.ts': 'export const a = 1' }, 'packages/shell/src/index.ts: does more than re-export'],
      [{ 'plugins/local-bash/src/index.ts': 'export const a = 1' }, 'plugins/local-bash/src/index.ts: a plugin is the default export'],
    ],
  },
  {
    title: 'a plugin is named as its folder',
    rule: manifests.pluginsAreNamedAsTheirFolder,
    violations: [
      [{ 'plugins/local-bash/src/index.ts': plugin('bash') }, 'plugins/local-bash: defines "bash", not one "local-bash"'],
      [{ 'plugins/local-bash/src/index.ts': 'export default 1' }, 'plugins/local-bash: defines no plugin, not one "local-bash"'],
    ],
  },
  {
    title: 'capability keys are kebab-case',
    rule: manifests.capabilityKeysAreKebabCase,
    violations: [[{ 'packages/shell/src/shell.ts': contract('shellEnv') }, 'packages/shell/src/shell.ts: the key "shellEnv" is not kebab-case']],
  },
]

const FILES: readonly Held[] = [
  {
    title: 'files are named after the one thing inside, in kebab-case',
    rule: files.filesAreNamedAfterTheOneThingInside,
    violations: [
      [{ 'packages/shell/src/shellEnv.ts': '' }, 'packages/shell/src/shellEnv.ts: "shellEnv" is not kebab-case'],
      [{ 'packages/shell/src/shell-utils.ts': '' }, 'packages/shell/src/shell-utils.ts: "shell-utils" does not say what is inside'],
      [{ 'test/helpers/run.ts': '' }, 'test/helpers/run.ts: "helpers" does not say what is inside'],
    ],
  },
  {
    title: 'tests lie where they are run',
    rule: files.testsLieInTest,
    violations: [
      [{ 'packages/shell/src/a.spec.ts': '' }, 'packages/shell/src/a.spec.ts: lies outside a test folder, where nobody runs it'],
      [{ 'packages/shell/test/a.test.ts': '' }, 'packages/shell/test/a.test.ts: a test ends in .spec.ts, or nobody runs it'],
    ],
  },
  {
    title: 'a file keeps its budget: 250 lines of source, 400 of test',
    rule: files.filesKeepTheirBudget,
    violations: [
      [
        { 'packages/shell/src/a.ts': lines(251), 'packages/shell/test/a.spec.ts': lines(400) },
        'packages/shell/src/a.ts: 251 lines of code, the budget is 250',
      ],
      [
        { 'packages/shell/test/a.spec.ts': lines(401), 'scripts/a.mjs': lines(250) },
        'packages/shell/test/a.spec.ts: 401 lines of code, the budget is 400',
      ],
    ],
  },
  {
    title: 'the kernel keeps its budget: 2,300 lines in all',
    rule: files.theKernelKeepsItsBudget,
    violations: [
      [
        Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`packages/kernel/src/a${n}.ts`, lines(231)])),
        'packages/kernel: 2312 lines of code, the budget is 2300',
      ],
    ],
  },
  {
    title: 'every package has a README of at most 60 lines',
    rule: files.everyMemberHasAShortReadme,
    violations: [
      [{ 'packages/shell/README.md': undefined }, 'packages/shell: has no README.md'],
      [{ 'packages/shell/README.md': lines(61) }, 'packages/shell/README.md: 61 lines, at most 60'],
    ],
  },
  {
    title: 'no registry is named',
    rule: files.noRegistryIsNamed,
    violations: [
      [{ 'docs/a.md': `see www.${'npmjs'}.com` }, `docs/a.md: names the registry "www.${'npmjs'}"`],
      [{ 'pnpm-lock.yaml': 'resolution: { integrity: x }\n  tarball: x' }, 'pnpm-lock.yaml: holds an address'],
    ],
  },
  {
    title: 'no machine is named',
    rule: files.noMachineIsNamed(root),
    violations: [
      [{ 'docs/a.md': `cd ${root}` }, `docs/a.md: names "${root}", a place on one machine`],
      [{ 'docs/a.md': `cd /${'home/ann'}/tenon` }, `docs/a.md: names "/${'home/ann'}/", a place on one machine`],
    ],
  },
]

const tree = readTree(root)

describe.each([
  ['layers', LAYERS],
  ['manifests', MANIFESTS],
  ['files', FILES],
])('%s', (_, held) => {
  describe.each(held)('$title', ({ rule, violations }) => {
    it('in this repository', () => {
      expect(rule(tree)).toEqual([])
    })

    it('and a violation is caught', () => {
      expect(rule(smallTree())).toEqual([])
      for (const [planted, said] of violations) expect(rule(smallTree(planted)).join('\n')).toBe(said)
    })
  })
})

describe('what the rules stand on', () => {
  it('a line counts when it holds code: not when blank, comment or documentation', () => {
    const text = `/** Documentation. */\n\n// a comment\nconst a = '// text' /* behind */\n\n/* over\nlines */ const b = /[/]\\/*/\nconst c = \`\n// text \${a}\n\`\n`
    expect(codeLines('a.ts', text)).toBe(5)
  })

  it('every form of import is seen, and told from an import of types', () => {
    const text = `import 'a'; import type { B } from 'b'; import { type C } from 'c'; export * from 'd'; export type { E } from 'e'
      const f = await import('f'); const g = require('g'); type H = import('h').H; import i = require('i') // import 'no'`
    const seen = importsOf('a.ts', text).map(({ from, typeOnly }) => (typeOnly ? from.toUpperCase() : from))
    expect(seen).toEqual(['a', 'B', 'c', 'd', 'E', 'f', 'g', 'H', 'i'])
  })

  it('the tree is that of the repository', () => {
    expect([...tree.keys()]).toEqual(expect.arrayContaining(['package.json', 'packages/kernel/src/index.ts', 'test/architecture.spec.ts']))
    expect([...tree.keys()].filter((path) => /(^|\/)(node_modules|dist)\//.test(path))).toEqual([])
  })
})
