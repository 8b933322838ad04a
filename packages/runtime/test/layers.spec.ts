import { expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { type CheckReport, checkCatalog } from '../src/index.ts'
import { type Folder, folder } from './folder.ts'
import { firstParty } from './plugins.ts'

async function check(files: Readonly<Record<string, string>>): Promise<CheckReport & { readonly dir: Folder }> {
  const dir = await folder(files)
  return { ...(await checkCatalog(dir.file('top.yaml'), { firstParty: firstParty(), host: { env: {} } })), dir }
}

const row = ({ composition }: CheckReport, id: string) => composition.rows.find((candidate) => candidate.id === id)

const base = `plugins:
  engine: petrol-engine
  box:
    use: gear-box
    with: { ratios: [1, 2, 3], label: { text: base, size: 9 } }
`

it('CP-04 rows merge by id and `with` deeply, and every value remembers where it was written', async () => {
  const report = await check({
    'base.yaml': base,
    'top.yaml': `extends: base.yaml
plugins:
  box:
    with:
      label: { text: top }
  engine: { with: { cylinders: 6 } }
`,
  })
  expect(report.diagnostics).toEqual([])
  expect(row(report, 'box')?.config).toEqual({ ratios: [1, 2, 3], label: { text: 'top', size: 9 } })
  expect(row(report, 'engine')?.config).toEqual({ cylinders: 6 })
  const origins = row(report, 'box')?.origins.map(({ path, file, line, column }) => [
    path,
    file === report.dir.file('top.yaml') ? 'top' : 'base',
    line,
    column,
  ])
  expect(origins).toEqual([
    ['use', 'base', 4, 10],
    ['with.ratios.0', 'base', 5, 22],
    ['with.ratios.1', 'base', 5, 25],
    ['with.ratios.2', 'base', 5, 28],
    ['with.label.text', 'top', 5, 22],
    ['with.label.size', 'base', 5, 59],
  ])
})

it('CP-04 several extended files are merged in order, this file last', async () => {
  const report = await check({
    'a.yaml': 'plugins:\n  engine: { use: petrol-engine, with: { cylinders: 1, fuel: petrol } }\n',
    'b.yaml': 'plugins:\n  engine: { with: { cylinders: 2, fuel: diesel } }\n',
    'top.yaml': 'extends: [./a.yaml, ./b.yaml]\nplugins:\n  engine: { with: { cylinders: 3 } }\n',
  })
  expect(report.diagnostics).toEqual([])
  expect(row(report, 'engine')?.config).toEqual({ cylinders: 3, fuel: 'diesel' })
  expect(report.composition.files).toEqual(['top.yaml', 'a.yaml', 'b.yaml'].map((name) => report.dir.file(name)))
})

it('CP-04 $unset takes keys, values and rows of the base away', async () => {
  const report = await check({
    'base.yaml': `${base}  wheels: wheel-set\n`,
    'top.yaml': 'extends: ./base.yaml\nplugins:\n  $unset: [wheels]\n  box: { with: { label: { $unset: [size] } } }\n',
  })
  expect(report.diagnostics).toEqual([])
  expect(report.composition.rows.map(({ id }) => id)).toEqual(['box', 'engine'])
  expect(row(report, 'box')?.config).toEqual({ ratios: [1, 2, 3], label: { text: 'base' } })
})

it('CP-04 $unset of what is not there is a warning with did-you-mean', async () => {
  const report = await check({ 'base.yaml': base, 'top.yaml': 'extends: ./base.yaml\nplugins:\n  box: { with: { $unset: [labl] } }\n' })
  expect(report.diagnostics).toMatchObject([{ severity: 'warning', line: 3, column: 27, hint: 'did you mean "label"?' }])
})

it('CP-04 $replace stands for the whole value, of a row too', async () => {
  const report = await check({
    'base.yaml': base,
    'top.yaml': 'extends: ./base.yaml\nplugins:\n  engine: { $replace: electric-engine }\n  box: { with: { $replace: { ratios: [5] } } }\n',
  })
  expect(report.diagnostics).toEqual([])
  expect(row(report, 'engine')?.use).toBe('electric-engine')
  expect(row(report, 'box')?.config).toEqual({ ratios: [5] })
})

it('CP-04 a config key left over from another plugin says how to take it away', async () => {
  const report = await check({
    'base.yaml': 'plugins:\n  engine: { use: petrol-engine, with: { cylinders: 1 } }\n  box: { use: gear-box, with: { ratios: [] } }\n',
    'top.yaml': 'extends: ./base.yaml\nplugins:\n  engine: { use: gear-box, with: { ratios: [] } }\n  box: electric-engine\n',
  })
  expect(report.diagnostics.map(({ message, hint }) => [message, hint])).toContainEqual([
    'row "engine": unknown key "cylinders"',
    `the row names its plugin in ${report.dir.file('top.yaml')}; take this key away there with \`$unset\`, or write \`$replace\` in \`with\``,
  ])
})

it('CP-04 files that extend each other are refused with the ring', async () => {
  const report = await check({
    'top.yaml': 'extends: ./a.yaml\n',
    'a.yaml': 'extends: ./b.yaml\n',
    'b.yaml': 'extends: ./a.yaml\nplugins:\n  engine: petrol-engine\n',
  })
  expect(report.diagnostics).toMatchObject([
    {
      code: 'CATALOG_EXTENDS_CYCLE',
      message: 'catalog files extend each other: a.yaml → b.yaml → a.yaml',
      file: report.dir.file('b.yaml'),
      line: 1,
      column: 10,
    },
  ])
})

it('CP-04 a file that extends itself is told so', async () => {
  const { diagnostics } = await check({ 'top.yaml': 'extends: ./top.yaml\nplugins: { engine: petrol-engine }\n' })
  expect(diagnostics.map(({ code, message, hint }) => [code, message, hint])).toEqual([
    ['CATALOG_EXTENDS_CYCLE', 'the catalog file extends itself', 'remove it'],
  ])
})

it('CP-04 a file that is extended on a million ways is read once', async () => {
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`${at + 1}.yaml`, `extends: [./${at}.yaml, ./${at}.yaml]\n`]))
  const report = await check({ ...files, '0.yaml': 'plugins:\n  engine: petrol-engin\n', 'top.yaml': 'extends: ./20.yaml\n' })
  expect(report.diagnostics).toMatchObject([{ code: 'PLUGIN_UNKNOWN', file: report.dir.file('0.yaml'), line: 2 }])
})

it('CP-04 a folder in place of a file is told with the file in it that was meant', async () => {
  const dir = await folder({ 'conf/tenon.yaml': 'plugins: {}\n', 'bare/notes.txt': '' })
  const hints = async (name: string): Promise<unknown> => (await checkCatalog(dir.file(name))).diagnostics.map(({ message, hint }) => [message, hint])
  expect(await hints('conf')).toEqual([
    [`cannot read the catalog file ${dir.file('conf')}: it is a directory`, `name a file in it, such as ${dir.file('conf/tenon.yaml')}`],
  ])
  expect(await hints('bare')).toEqual([[`cannot read the catalog file ${dir.file('bare')}: it is a directory`, undefined]])
})

it.each([
  ['as deep as it may be', 196, []],
  ['one level deeper', 197, ['nested deeper than 200 levels']],
  ['deeper than the parser goes', 20_000, ['nested deeper than 200 levels']],
])('CP-04 values inside values, %s', async (_, levels, messages) => {
  const nested = `${'['.repeat(levels)}${']'.repeat(levels)}`
  const { diagnostics } = await check({ 'top.yaml': `plugins:\n  any: { use: anything, with: { value: ${nested} } }\n` })
  expect(diagnostics.map(({ message }) => message)).toEqual(messages)
})

it('CP-04 a missing file is told where it is named', async () => {
  const missing = await check({ 'top.yaml': 'name: top\nextends: ./bse.yaml\n' })
  expect(missing.diagnostics).toMatchObject([{ code: 'CATALOG_UNREADABLE', line: 2, column: 10 }])
  const dir = await folder()
  const report = await checkCatalog(dir.file('none.yaml'))
  expect(report.diagnostics).toMatchObject([
    { code: 'CATALOG_UNREADABLE', message: `cannot read the catalog file ${dir.file('none.yaml')}: there is no such file` },
  ])
})

it.each([
  ['a list', '- petrol-engine\n', 'CATALOG_SHAPE', '1:1 the catalog file is a list'],
  ['empty', '', 'CATALOG_SHAPE', '1:1 the catalog file is empty'],
  ['only a comment', '# nothing\n', 'CATALOG_SHAPE', '1:1 the catalog file is empty'],
  ['a word', 'petrol-engine\n', 'CATALOG_SHAPE', '1:1 the catalog file is a single value'],
  ['indented with tabs', 'plugins:\n\tengine: petrol-engine\n', 'CATALOG_SYNTAX', '2:1 Tabs are not allowed as indentation'],
  ['with a list for a key', 'plugins:\n  ? [a]\n  : petrol-engine\n', 'CATALOG_SYNTAX', '2:5 a key is one text'],
  ['two documents', 'plugins: {}\n---\nplugins: {}\n', 'CATALOG_SYNTAX', '2:1 a second document begins here'],
  ['tagged', 'plugins:\n  engine: !car petrol-engine\n', 'CATALOG_SYNTAX', '2:11 Unresolved tag: !car'],
  [
    'twice with one id',
    'plugins:\n  engine: petrol-engine\n  engine: electric-engine\n',
    'CATALOG_DUPLICATE_KEY',
    '3:3 "engine" is there already, in line 2',
  ],
  ['a row without a plugin', 'plugins:\n  engine:\n', 'CATALOG_SHAPE', '2:10 row "engine": expected a plugin or a map, got null'],
  ['a row with a dot', 'plugins:\n  my.engine: petrol-engine\n', 'CATALOG_SHAPE', '2:3 row "my.engine": an id starts with a letter or digit'],
])('CP-04 a file that is %s is refused at its place', async (_, text, code, message) => {
  const { diagnostics } = await check({ 'top.yaml': text })
  const [first] = diagnostics
  expect(first?.code).toBe(code)
  expect(`${first?.line}:${first?.column} ${first?.message}`).toContain(message)
})

it('CP-04 a file of one megabyte is checked in a small multiple of the time its parsing takes', async () => {
  const rows = Array.from(
    { length: 12_000 },
    (_, index) => `  engine-${index}: { use: petrol-engine, disabled: true, with: { cylinders: ${index} } }`,
  )
  const text = `plugins:\n  engine: petrol-engine\n${rows.join('\n')}\n`
  expect(text.length).toBeGreaterThan(900_000)
  const began = performance.now()
  parseDocument(text, { uniqueKeys: false })
  const parsed = performance.now()
  const report = await check({ 'top.yaml': text })
  expect(report.ok).toBe(true)
  expect(report.composition.rows).toHaveLength(12_001)
  expect(performance.now() - parsed).toBeLessThan(6 * (parsed - began) + 1_000)
})

it('CP-04 anchors and aliases work', async () => {
  const report = await check({
    'top.yaml':
      'plugins:\n  engine: petrol-engine\n  box: { use: gear-box, with: { ratios: &r [1, 2], label: { text: &t hi } } }\n  box2: { use: gear-box, disabled: true, with: { ratios: *r, label: { text: *t } } }\n',
  })
  expect(report.diagnostics).toEqual([])
  expect(row(report, 'box2')?.origins.map(({ path, value }) => [path, value])).toContainEqual(['with.label.text', 'hi'])
})

it('CP-04 an alias bomb and an anchor that contains itself are refused', async () => {
  const levels = Array.from({ length: 12 }, (_, level) => `  x${level + 1}: &x${level + 1} [${Array(10).fill(`*x${level}`).join(', ')}]`)
  const started = performance.now()
  const bomb = await check({ 'top.yaml': `plugins:\n  x0: &x0 [${'boom, '.repeat(10)}]\n${levels.join('\n')}\n` })
  expect(bomb.diagnostics).toMatchObject([{ code: 'CATALOG_ALIAS' }])
  expect(performance.now() - started).toBeLessThan(1_000)
  const ring = await check({ 'top.yaml': 'plugins:\n  engine: &e { use: petrol-engine, with: { self: *e } }\n' })
  expect(ring.diagnostics).toMatchObject([{ code: 'CATALOG_ALIAS', message: '&e contains itself', line: 2 }])
})

it('CP-04 a key named like a member of every object stays a key', async () => {
  const report = await check({ 'top.yaml': 'plugins:\n  engine: { use: petrol-engine, with: { __proto__: { polluted: 1 }, constructor: 2 } }\n' })
  expect(report.diagnostics.map(({ message }) => message)).toEqual([
    'row "engine": unknown key "__proto__"',
    'row "engine": unknown key "constructor"',
  ])
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
})

it.each([
  ['a comment', '{\n  // mine\n  "plugins": {}\n}', '2:3'],
  ['a trailing comma', '{\n  "plugins": {},\n}', '3:1'],
  ['plain YAML', 'plugins:\n  engine: petrol-engine\n', '1:1'],
  ['a word without quotes', '{\n  "plugins": { "engine": petrol-engine }\n}', '2:26'],
  ['an end too early', '{ "plugins": {}', '1:16'],
])('CP-02 a catalog file that ends in .json is JSON: %s', async (_, text, place) => {
  const dir = await folder({ 'car.json': text })
  const { diagnostics } = await checkCatalog(dir.file('car.json'), { firstParty: firstParty(), host: { env: {} } })
  expect(diagnostics.map(({ code, line, column }) => [code, `${line}:${column}`])).toEqual([['CATALOG_SYNTAX', place]])
  expect(diagnostics[0]?.hint).toContain('.yaml')
})

it.each([
  ['./bass.yaml', 'did you mean base.yaml, in the same folder?'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of catalog files.
  ['~/base.yaml', 'write "${env:HOME}/base.yaml"'],
  ['./nowhere/base.yaml', expect.stringMatching(/^there is no folder .*nowhere$/)],
])('CP-03 did-you-mean for a catalog file that is not there: %s', async (name, hint) => {
  const { diagnostics } = await check({ 'base.yaml': base, 'top.yaml': `extends: ${name}\nplugins: {}\n` })
  expect(diagnostics[0]).toMatchObject({ code: 'CATALOG_UNREADABLE', line: 1, column: 10, hint })
})

it('CP-02 a number where a text belongs wants quotes', async () => {
  const { diagnostics } = await check({ 'top.yaml': 'name: 5\nplugins: { engine: petrol-engine }\n' })
  expect(diagnostics).toMatchObject([{ code: 'CATALOG_SHAPE', line: 1, column: 7, hint: 'put it in quotes' }])
})
