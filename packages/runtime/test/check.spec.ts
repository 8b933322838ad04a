import { expect, it } from 'vitest'
import { type CheckReport, checkCatalog, printDiagnostic } from '../src/index.ts'
import { folder } from './folder.ts'
import { firstParty } from './plugins.ts'

async function check(text: string, files: Readonly<Record<string, string>> = {}): Promise<CheckReport> {
  const dir = await folder({ 'car.yaml': text, ...files })
  return checkCatalog(dir.file('car.yaml'), { firstParty: firstParty(), host: { env: {}, platform: 'linux' } })
}

const places = ({ diagnostics }: CheckReport): readonly string[] => diagnostics.map(({ code, line, column }) => `${line}:${column} ${code}`)

it('CP-02 eight different faults give eight diagnostics, each at its line and column, and nothing runs', async () => {
  const activated: string[] = []
  const dir = await folder({
    'car.yaml': `name: car
plugns: {}
plugins:
  motor: petrol-engin
  engine:
    use: petrol-engine
    with:
      cylinders: many
      fule: diesel
  second: electric-engine
  box: { use: gear-box, disabled: "yes", with: { ratios: [] } }
  wheels: ./wheels.ts
  ring: ./ring.ts
`,
    'wheels.ts': `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'wheels', inject: [capability<object>('axle')], activate() { throw new Error('ran') } })
`,
    'ring.ts': `import { capability, definePlugin } from '@tenon/kernel'
const Ring = capability<object>('ring')
export default definePlugin({ name: 'ring', inject: [Ring], provides: [Ring], activate() { throw new Error('ran') } })
`,
  })
  const report = await checkCatalog(dir.file('car.yaml'), { firstParty: firstParty(activated), host: { env: {} } })
  expect(report.ok).toBe(false)
  expect(places(report)).toEqual([
    '2:1 CATALOG_UNKNOWN_KEY',
    '4:10 PLUGIN_UNKNOWN',
    '8:18 CONFIG_INVALID',
    '9:7 CONFIG_UNKNOWN_KEY',
    '10:11 CAPABILITY_TAKEN',
    '11:35 CATALOG_SHAPE',
    '12:11 CAPABILITY_MISSING',
    '13:9 CAPABILITY_CYCLE',
  ])
  expect(activated).toEqual([])
})

it('CP-02 a diagnostic prints its message, place, source line, caret and hint', async () => {
  const { diagnostics } = await check('plugins:\n\tengine: petrol-engine\n')
  expect(diagnostics.map((diagnostic) => printDiagnostic(diagnostic, { cwd: '/' })).join('\n')).toMatch(/hint: indent with spaces/)

  const report = await check('plugins:\n  engine: petrol-engin\n')
  const [diagnostic] = report.diagnostics
  expect(diagnostic && printDiagnostic({ ...diagnostic, file: '/etc/car.yaml' }, { cwd: '/etc' })).toBe(
    [
      'error: row "engine": there is no plugin "petrol-engin" [PLUGIN_UNKNOWN]',
      '  --> car.yaml:2:11',
      '2 |   engine: petrol-engin',
      '  |           ^^^^^^^^^^^^',
      '  hint: did you mean "petrol-engine"?',
    ].join('\n'),
  )
})

it('CP-02 a line of a megabyte is shown around the place, and control characters never reach the terminal', async () => {
  const { diagnostics } = await check(`{"plugins": {"pad": "${'x'.repeat(1_000_000)}", "engine": "petrol-\u009b31mengine"}}`)
  const engine = diagnostics.find(({ row }) => row === 'engine')
  expect(engine?.column).toBeGreaterThan(1_000_000)
  const text = engine === undefined ? '' : printDiagnostic(engine)
  expect(text.length).toBeLessThan(1_000)
  expect(text).not.toMatch(/\u009b/)
})

it('CP-02 a missing provider names the known plugins that would supply it, and rows that would but do not run', async () => {
  const { diagnostics } = await check(`plugins:
  box: { use: gear-box, with: { ratios: [1] } }
`)
  expect(diagnostics).toMatchObject([
    {
      code: 'CAPABILITY_MISSING',
      message: 'row "box" needs "engine", which no row provides',
      hint: 'provided by petrol-engine, electric-engine: add a row, for example `engine: petrol-engine`',
      row: 'box',
    },
  ])
  const idle = await check(`plugins:
  box: { use: gear-box, with: { ratios: [1] } }
  engine: { use: petrol-engine, when: { platform: win32 } }
`)
  expect(idle.diagnostics[0]?.hint).toBe(
    'row "engine" would provide it, but it is skipped here: platform is linux, not win32: put it in, or take "box" out too',
  )
})

it.each([
  ['wth: {}', ['3:13 CATALOG_UNKNOWN_KEY']],
  ['when: { platform: [linus] }', ['3:32 CATALOG_SHAPE']],
  ['disabled: 7', ['3:23 CATALOG_SHAPE']],
  ['with: 7', ['3:19 CATALOG_SHAPE']],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of catalog files.
  ['criticality: "${env:NOBODY}"', ['3:27 ENV_MISSING']],
  ['wth: {}, with: { fule: diesel }', ['3:13 CATALOG_UNKNOWN_KEY', '3:30 CONFIG_UNKNOWN_KEY']],
])('CP-02 a row with a wrong form still counts with what it inherits: %s', async (fault, expected) => {
  const base = 'plugins:\n  engine: petrol-engine\n  box: { use: gear-box, with: { ratios: [1] } }\n'
  expect(places(await check(`extends: ./base.yaml\nplugins:\n  engine: { ${fault} }\n`, { 'base.yaml': base }))).toEqual(expected)
})

it.each([
  ['  a: electric-engine\n', '3:6', 'row "a": "engine" is provided by row "engine" already'],
  ['  zz: electric-engine\n', '3:7', 'row "zz": "engine" is provided by row "engine" already'],
  ['  a-spare: { disabled: false }\n', '3:14', 'row "a-spare": "engine" is provided by row "engine" already'],
])('CP-02 a second provider is told in the file that puts it in: %s', async (rows, place, message) => {
  const base = 'plugins:\n  engine: petrol-engine\n  a-spare: { use: electric-engine, disabled: true }\n'
  const { diagnostics } = await check(`extends: ./base.yaml\nplugins:\n${rows}`, { 'base.yaml': base })
  expect(diagnostics.map((fault) => [fault.file.endsWith('car.yaml'), `${fault.line}:${fault.column}`, fault.message])).toEqual([
    [true, place, message],
  ])
})

it.each([
  ['https://example.org/plugin.js', /is a URL/, /installed package, or a path/],
  ['./data.txt', /data\.txt is no code of a plugin/, /\.js, \.mjs or \.ts/],
  ['./more.yaml', /more\.yaml is no code of a plugin/, /name it in `extends`/],
])('CP-02 what cannot be a plugin is told as what it is: %s', async (use, message, hint) => {
  const { diagnostics } = await check(`plugins:\n  odd: "${use}"\n`, { 'data.txt': 'export default {}', 'more.yaml': 'plugins: {}\n' })
  expect(diagnostics).toEqual([expect.objectContaining({ message: expect.stringMatching(message), hint: expect.stringMatching(hint) })])
})

it('CP-02 a cycle is told with its path', async () => {
  const plugin = (name: string, needs: string, offers: string): string => `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: '${name}', inject: [capability<object>('${needs}')], provides: [capability<object>('${offers}')], activate() {} })
`
  const files = { 'a.ts': plugin('a', 'x', 'y'), 'b.ts': plugin('b', 'y', 'z'), 'c.ts': plugin('c', 'z', 'x'), 'd.ts': plugin('d', 'x', 'w') }
  const { diagnostics } = await check('plugins:\n  d: ./d.ts\n  a: ./a.ts\n  b: ./b.ts\n  c: ./c.ts\n', files)
  expect(diagnostics.map(({ code, message }) => [code, message])).toEqual([
    ['CAPABILITY_CYCLE', 'rows need each other in a ring: a needs "x" of c needs "z" of b needs "y" of a'],
  ])
})

it('CP-02 a problem of an optional row is a warning, and the composition stands', async () => {
  const report = await check(`plugins:
  engine: petrol-engine
  radio: { use: radio-set, criticality: optional }
  box: { use: gear-box, criticality: optional, with: { ratios: fast } }
`)
  expect(report.ok).toBe(true)
  expect(report.diagnostics.map(({ severity, code }) => [severity, code])).toEqual([
    ['warning', 'PLUGIN_UNKNOWN'],
    ['warning', 'CONFIG_INVALID'],
  ])
  expect(report.composition.rows.map(({ id, state }) => [id, state])).toEqual([
    ['box', 'broken'],
    ['engine', 'active'],
    ['radio', 'broken'],
  ])
})

it('CP-02 a required row that needs what only a broken optional one would provide does not fit, whose fault is but a warning', async () => {
  const report = await check(
    `plugins:
  engine: { use: petrol-engine, criticality: optional, with: { cylinders: many } }
  box: { use: gear-box, with: { ratios: [] } }
  wheels: { use: wheel-set, criticality: optional }
  axle: { use: ./axle.ts, criticality: optional }
  hub: ./hub.ts
`,
    {
      'hub.ts': `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'hub', inject: [capability<object>('axle')], activate() {} })
`,
    },
  )
  expect(report.ok).toBe(false)
  expect(report.diagnostics.map(({ severity, code, row, hint }) => [severity, code, row, hint])).toEqual([
    ['warning', 'CONFIG_INVALID', 'engine', undefined],
    [
      'error',
      'CAPABILITY_MISSING',
      'box',
      'row "engine" would provide it, but it is optional and its config is not valid: mend it, or make "box" optional too',
    ],
    ['warning', 'PLUGIN_UNKNOWN', 'axle', expect.anything()],
    ['error', 'CAPABILITY_MISSING', 'hub', 'row "axle" may be what provides it, but it is optional and its plugin does not load: mend it'],
  ])
})

it.each([
  ['a row key', 'plugins:\n  engine: { use: petrol-engine, disbled: true }\n', 'did you mean "disabled"?'],
  ['a plugin', 'plugins:\n  engine: petrol-engin\n', 'did you mean "petrol-engine"?'],
  ['a config key', 'plugins:\n  engine: { use: petrol-engine, with: { cylinder: 4 } }\n', 'did you mean "cylinders"?'],
  [
    'a nested config key',
    'plugins:\n  engine: petrol-engine\n  box: { use: gear-box, with: { ratios: [], label: { txt: a, text: b } } }\n',
    'did you mean "text"?',
  ],
  ['a value', 'plugins:\n  engine: { use: petrol-engine, with: { fuel: disel } }\n', 'did you mean "diesel"?'],
  ['a platform in a list', 'plugins:\n  engine: { use: petrol-engine, when: { platform: [linus] } }\n', 'did you mean "linux"?'],
  ['a platform', 'plugins:\n  engine: { use: petrol-engine, when: { platform: linus } }\n', 'did you mean "linux"?'],
  [
    'a row that is overlaid',
    'extends: ./base.yaml\nplugins:\n  engin: { with: { cylinders: 2 } }\n',
    'write `use: PLUGIN`; or did you mean the row "engine"?',
  ],
  ['a capability', 'plugins:\n  engine: petrol-engine\n  odd: ./odd.ts\n', 'did the plugin mean "engine"?'],
  ['a file', 'plugins:\n  odd: ./od.ts\n', 'did you mean ./odd.ts?'],
])('CP-03 did-you-mean for %s', async (_, text, hint) => {
  const { diagnostics } = await check(text, {
    'base.yaml': 'plugins:\n  engine: petrol-engine\n',
    'odd.ts': `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'odd', inject: [capability<object>('engin')], activate() {} })
`,
  })
  expect(diagnostics.map((diagnostic) => diagnostic.hint)).toEqual([hint])
})
