// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of catalog files.
import { expect, it } from 'vitest'
import { type CheckReport, checkCatalog } from '../src/index.ts'
import { folder } from './folder.ts'
import { firstParty } from './plugins.ts'

async function check(text: string, env: Readonly<Record<string, string>> = {}): Promise<CheckReport> {
  const dir = await folder({ 'car.yaml': text })
  return checkCatalog(dir.file('car.yaml'), { firstParty: firstParty(), host: { env } })
}

const told = ({ diagnostics }: CheckReport): readonly string[] => diagnostics.map(({ line, column, message }) => `${line}:${column} ${message}`)
const withX = (value: string): string => `plugins:\n  any:\n    use: anything\n    with:\n      x: ${value}\n`

it.each([
  ['!!binary aGk=', '!!binary', 19],
  ['!!timestamp 2020-01-01', '!!timestamp', 22],
  ['!!set {a}', '!!set', 16],
  ['!!omap [a: 1]', '!!omap', 17],
  ['!!pairs [a: 1]', '!!pairs', 18],
  ['!!merge x', '!!merge', 18],
  ['{ deep: [!!binary aGk=] }', '!!binary', 28],
])('CP-04 a tag that makes something else of a value is refused: %s', async (value, tag, column) => {
  const report = await check(withX(value))
  expect(report.diagnostics.map(({ code, hint }) => [code, hint])).toEqual([
    ['CATALOG_SYNTAX', 'tags are not part of catalog files; write the value without it'],
  ])
  expect(told(report)).toEqual([`5:${column} a value with the tag ${tag}`])
})

it('CP-04 a tag of the core schema says of which kind a value is', async () => {
  const report = await check(withX('[!!int "3", !!str 3, ! 12, !!float 3.5, !!null "", !!bool true, !!seq [], !!map {}]'))
  expect(report.diagnostics).toEqual([])
  expect(report.composition.rows[0]?.config).toEqual({ x: [3, '3', '12', 3.5, null, true, [], {}] })
  const text = await check(withX('!!str ${env:N}'), { N: '5' })
  expect(text.composition.rows[0]?.config).toEqual({ x: '5' })
})

it.each([
  ['in a config', 'plugins:\n  any: { use: anything, with: { x: &d { port: 1 }, y: { <<: *d, z: 2 } } }\n', '2:57'],
  ['in a row', 'plugins:\n  any: &d { use: petrol-engine }\n  more:\n    <<: *d\n    disabled: true\n', '4:5'],
  ['in a row, of several', 'plugins:\n  any: &d { use: petrol-engine }\n  more:\n    <<: [*d, { disabled: true }]\n', '4:5'],
  ['among the rows', 'plugins:\n  <<: { any: petrol-engine }\n', '2:3'],
  ['at the top', '<<: { name: car }\nplugins: { any: petrol-engine }\n', '1:1'],
  ['with nothing to merge', 'plugins:\n  any: { use: anything, with: { <<: 5 } }\n', '2:33'],
])('CP-04 a merge key is told as what it is, and what it was to bring is no second fault: %s', async (_, text, place) => {
  const report = await check(text)
  expect(told(report)).toEqual([`${place} YAML 1.2 has no merge keys`])
  expect(report.diagnostics[0]?.hint).toBe('write the keys out, or put them into another file and name it in `extends`')
})

it('CP-04 a key in quotes that looks like a merge key is a key', async () => {
  const report = await check('plugins:\n  any: { use: anything, with: { "<<": 5 } }\n')
  expect(report.diagnostics).toEqual([])
  expect(report.composition.rows[0]?.config).toEqual({ '<<': 5 })
})

it('CP-04 an alias without an anchor says how to write the text that was meant', async () => {
  const { diagnostics } = await check(withX('*.example.com'))
  expect(diagnostics).toMatchObject([{ code: 'CATALOG_ALIAS', line: 5, column: 10, hint: "if it is a text, write it in quotes: '*.example.com'" }])
})

it('CP-04 inside a list $replace stands for its value, and $unset of nothing is told', async () => {
  const report = await check(withX('[{ $replace: { a: 1 } }, [{ $replace: 2 }], { $unset: [q], b: 3 }, plain]'))
  expect(report.composition.rows[0]?.config).toEqual({ x: [{ a: 1 }, [2], { b: 3 }, 'plain'] })
  expect(report.diagnostics).toMatchObject([{ severity: 'warning', line: 5, message: '$unset: there is no "q" below to take away' }])
})
