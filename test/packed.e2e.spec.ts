import { readdirSync } from 'node:fs'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { outputOf, PackedPackages } from './packed/packed-packages.ts'

const tenon = fileURLToPath(new URL('../packages/cli/bin/tenon.js', import.meta.url))
const examples = fileURLToPath(new URL('../examples', import.meta.url))

let packed: PackedPackages
beforeAll(async () => {
  packed = await PackedPackages.pack()
}, 120_000)
afterAll(() => packed?.[Symbol.asyncDispose]())

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
    120_000,
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
    120_000,
  )
})

async function symlinkTo(target: string, place: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true })
  await symlink(target, place, 'dir')
}
