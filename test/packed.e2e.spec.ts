import { readdirSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { publishFaults, typeFaults } from './packed/package-lint.ts'
import { contentsOf, entriesOf, type Manifest, outputOf, type PackedPackage, PackedPackages, publishedNames } from './packed/packed-packages.ts'

const tenon = fileURLToPath(new URL('../packages/cli/bin/tenon.js', import.meta.url))
const examples = fileURLToPath(new URL('../examples', import.meta.url))

let packed: PackedPackages
beforeAll(async () => {
  packed = await PackedPackages.pack()
})
afterAll(() => packed?.[Symbol.asyncDispose]())

describe('every package', () => {
  it('holds what its manifest names and the licence, no tests, and no file of the compiler for itself', async () => {
    const faults = []
    for (const one of packed.all) {
      const { manifest, files } = await contentsOf(one)
      const named = [...entriesOf(manifest).flatMap(({ targets }) => targets), ...Object.values(manifest.bin ?? {})]
      const missing = [...named.map((file) => file.replace(/^\.\//, '')), 'LICENSE'].filter((file) => !files.includes(file))
      const odd = files.filter((file) => /^(test|node_modules)\/|\.spec\.|\.tsbuildinfo$/.test(file))
      const local = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(([, range]) =>
        /^(workspace|catalog|link|file):/.test(range),
      )
      faults.push(...[...missing, ...odd, ...local].map((fault) => `${manifest.name}: ${fault}`))
    }
    expect(packed.all.length).toBeGreaterThan(20)
    expect(faults).toEqual([])
  })

  it.each(publishedNames().map((name) => [name]))('%s: publint has nothing against it', async (name) => {
    expect(await publishFaults(packed.one(name))).toEqual([])
  })

  it.each(publishedNames().map((name) => [name]))('%s: its types are right, whichever way an ES module resolves them', async (name) => {
    expect(await typeFaults(packed.one(name))).toEqual([])
  })

  it('these two checks find faults: a file that is not there, types behind the code, types of another module kind', async () => {
    const changed = (exports: Manifest['exports'] & object, rest: Partial<Manifest> = {}): Promise<PackedPackage> =>
      packed.withManifest(packed.one('@tenon/session'), { ...rest, exports })
    const absent = await changed({ '.': { types: './dist/index.d.ts', default: './dist/nothing.js' } })
    expect(await publishFaults(absent)).toEqual([expect.stringMatching(/^error: .*nothing\.js.*does not exist/)])
    const late = await changed({ '.': { default: './dist/index.js', types: './dist/index.d.ts' } })
    expect(await publishFaults(late)).toContainEqual(expect.stringMatching(/types should be the first/))
    const untyped = await changed({ '.': { types: './dist/nothing.d.ts', default: './dist/index.js' } })
    expect(await typeFaults(untyped)).toContainEqual(expect.stringMatching(/^FallbackCondition.*"node16-esm"/))
    const other = await changed({ '.': './dist/index.js' }, { type: 'commonjs' })
    expect(await typeFaults(other)).toEqual([expect.stringMatching(/^UnexpectedModuleSyntax/)])
  })

  it('installs from its tarball into an empty project; each entry has types, and is imported', async () => {
    const project = await packed.folder('empty')
    const dependencies = Object.fromEntries(packed.all.map(({ manifest: { name, version } }) => [name, version]))
    const others = { '@types/node': '*', typescript: '*', vitest: '*', zod: '*' }
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'empty', type: 'module', dependencies: { ...dependencies, ...others } }))
    await packed.install(project)
    const code = packed.all
      .flatMap(({ manifest }) => entriesOf(manifest))
      .map(({ specifier }) => specifier)
      .filter((name) => !name.endsWith('.json'))
    await writeFile(join(project, 'all.ts'), code.map((name, at) => `import * as m${at} from '${name}'\nvoid m${at}\n`).join(''))
    const flags = [
      '--noEmit',
      '--strict',
      '--module',
      'nodenext',
      '--target',
      'es2022',
      '--lib',
      'es2023,esnext.disposable',
      '--types',
      'node',
      'all.ts',
    ]
    expect(await outputOf(join(project, 'node_modules', '.bin', 'tsc'), ['--skipLibCheck', ...flags], project)).toEqual({ code: 0, output: '' })
    // Vitest refuses to be imported outside a run, and so do the suites that need it.
    const imports = code.map((name) => (name.endsWith('/conformance') ? `import.meta.resolve('${name}')` : `await import('${name}')`))
    await writeFile(join(project, 'all.js'), `${imports.join('\n')}\nconsole.log('all of them')\n`)
    expect(await outputOf(process.execPath, ['all.js'], project)).toEqual({ code: 0, output: 'all of them\n' })
  })
})

describe('`tenon new plugin`', () => {
  it.each([['weather'], ['@acme/rain-map']])(
    'CP-15 %s: installs, type-checks, tests, is called, builds and is used by its name, as made',
    async (name) => {
      const parent = await packed.folder(`new ${name.replace('/', ' ')}`)
      expect(await outputOf(process.execPath, [tenon, 'new', 'plugin', name], parent)).toMatchObject({ code: 0 })
      const word = name.replace('@acme/', '')
      const project = join(parent, word)
      await packed.install(project)
      const bin = (program: string): string => join(project, 'node_modules', '.bin', program)
      expect(await outputOf(bin('tsc'), [], project)).toEqual({ code: 0, output: '' })
      expect(await outputOf(bin('tenon'), ['check'], project)).toEqual({ code: 0, output: 'ok tenon.yaml: 3 rows fit together\n' })
      expect(await outputOf(bin('vitest'), ['run'], project)).toMatchObject({ code: 0, output: expect.stringMatching(/Tests {2}3 passed/) })
      const call = [word.replace('-', '_'), '{"who":"Ada"}']
      expect(await outputOf(bin('tenon'), ['call', ...call], project)).toEqual({ code: 0, output: 'Hello, Ada!\n' })
      expect(await outputOf(bin('tsc'), ['-p', 'tsconfig.build.json'], project)).toEqual({ code: 0, output: '' })
      const user = await packed.folder(`user of ${word}`)
      await symlinkTo(project, join(user, 'node_modules', name))
      const rows = `  tools: tools\n  a: { use: "${name}", with: { greeting: Good day } }\n  b: "${name}/tool"\n`
      await writeFile(join(user, 'tenon.yaml'), `plugins:\n${rows}`)
      expect(await outputOf(bin('tenon'), ['call', ...call], user)).toEqual({ code: 0, output: 'Good day, Ada!\n' })
    },
  )
})

const CALLS: Readonly<Record<string, { readonly call: readonly string[]; readonly says: string }>> = {
  'session-notes': { call: ['note_add', '{"text":"milk"}'], says: 'noted as number 1\n' },
  'guarded-shell': { call: ['run', '{"command":"git push origin"}'], says: 'Error: this command is not run here: a person pushes\n' },
}

describe('examples', () => {
  it('each has a call to be tried with', () => {
    const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name).toSorted()).toEqual(Object.keys(CALLS).toSorted())
  })

  it.each(Object.entries(CALLS))(
    'CP-06 %s, against the packed packages: installs, type-checks, tests, builds and is called',
    async (name, { call, says }) => {
      const project = await packed.folder(name)
      const isOurs = (file: string): boolean => !/[/\\](node_modules|dist)([/\\]|$)/.test(file.slice(examples.length))
      await cp(join(examples, name), project, { recursive: true, filter: isOurs })
      await packed.install(project)
      const bin = (program: string): string => join(project, 'node_modules', '.bin', program)
      expect(await outputOf(bin('tsc'), [], project)).toEqual({ code: 0, output: '' })
      expect(await outputOf(bin('tenon'), ['check'], project)).toMatchObject({ code: 0, output: expect.stringMatching(/^ok tenon\.yaml/) })
      expect(await outputOf(bin('vitest'), ['run'], project)).toMatchObject({ code: 0, output: expect.stringMatching(/Tests {2}\d+ passed/) })
      expect(await outputOf(bin('tsc'), ['-p', 'tsconfig.build.json'], project)).toEqual({ code: 0, output: '' })
      expect(await outputOf(bin('tenon'), ['call', ...call], project)).toMatchObject({ output: says })
    },
  )
})

async function symlinkTo(target: string, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true })
  await symlink(target, place, 'dir')
}
