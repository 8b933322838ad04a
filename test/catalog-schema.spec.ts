import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { catalogJsonSchema, checkCatalog } from '@tenon/runtime'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { readTree } from './architecture/source-tree.ts'
import { fencesIn } from './docs/markdown.ts'

const tree = readTree(dirname(dirname(fileURLToPath(import.meta.url))))
// The validator knows an older draft; what the schema uses means the same in both.
const { $schema: _, ...schema } = await catalogJsonSchema()
const fits = new AjvJsonSchemaValidator().getValidator(schema as never)

async function checked(text: string): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'tenon-schema-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'tenon.yaml')
  await writeFile(file, text)
  return (await checkCatalog(file)).ok
}

it.each([
  ['rows that replace those below', 'extends: default\nplugins: { $replace: { tools: tools } }\n'],
  [
    'rows that replace those below, in their long form',
    'extends: default\nplugins:\n  $replace:\n    tools: { use: tools, with: { abortGraceMs: 5 } }\n',
  ],
  ['no config behind the colon', 'plugins:\n  tools:\n    use: tools\n    with:\n'],
  ['no config behind the colon of a plugin that takes none', 'plugins:\n  shell-env:\n    use: shell-env\n    with: null\n'],
  ['a config that replaces the one below', 'plugins:\n  tools: { use: tools, with: { $replace: { abortGraceMs: 5 } } }\n'],
])('CP-04 the published schema accepts what the check accepts: %s', async (_, text) => {
  expect([await checked(text), fits(parse(text)).valid]).toEqual([true, true])
})

it.each([
  ['an unknown option', 'plugins:\n  tools: { use: tools, with: { abortGrace: 5 } }\n'],
  ['a row that is none, in what replaces', 'extends: default\nplugins: { $replace: { tools: 5 } }\n'],
  ['a list in place of a config', 'plugins:\n  tools: { use: tools, with: [] }\n'],
])('CP-02 the published schema refuses what the check refuses: %s', async (_, text) => {
  expect([await checked(text), fits(parse(text)).valid]).toEqual([false, false])
})

const fragments = [...tree].flatMap(([path, text]) =>
  /^plugins\/tool-(bash|pwsh)\/README\.md$/.test(path)
    ? fencesIn(text).flatMap(({ info, text }) => (info === 'yaml' ? [[path, text] as const] : []))
    : [],
)

it.each(fragments)('%s: its catalog passes the check as it stands', async (_, text) => {
  expect(await checked(text)).toBe(true)
})
