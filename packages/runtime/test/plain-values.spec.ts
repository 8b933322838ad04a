// biome-ignore-all lint/suspicious/noTemplateCurlyInString: expressions of catalog files.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { checkCatalog, parseSetting, SettingError, type SettingValue, Unquoted } from '../src/index.ts'
import { folder } from './folder.ts'
import { firstParty } from './plugins.ts'

async function becomes(text: string): Promise<unknown> {
  const dir = await folder({ 'car.yaml': 'plugins:\n  any:\n    use: anything\n    with:\n      x: ${env:X}\n' })
  const { composition, diagnostics } = await checkCatalog(dir.file('car.yaml'), { firstParty: firstParty(), host: { env: { X: text } } })
  expect(diagnostics).toEqual([])
  const config = composition.rows[0]?.config
  expect(config).toHaveProperty('x')
  return (config as { readonly x: unknown }).x
}

const LITERALS: readonly (readonly [text: string, value: unknown])[] = [
  ['42', 42],
  ['-0.5', -0.5],
  ['+7', 7],
  ['1e3', 1000],
  ['0x1F', 31],
  ['0o17', 15],
  ['.5', 0.5],
  ['true', true],
  ['FALSE', false],
  ['null', null],
  ['~', null],
  ['-.inf', Number.NEGATIVE_INFINITY],
]

const TEXTS = [
  '*.example.com',
  '*x',
  '&a 5',
  '#fff',
  '5 # five',
  '--- 5',
  '!!int 7',
  '%x',
  '[1,2]',
  '{a: 1}',
  '"5"',
  "'",
  'a: b',
  '-',
  '- 5',
  '? x',
  '| x',
]
const WORDS = ['5 apples', '1.2.3', 'yes', 'nUll', '0b1', '1_000', '@x', '`id`', '...']

it.each(LITERALS)('CP-05 a variable that is a number, a boolean or null in full becomes one: %s', async (text, value) => {
  expect(await becomes(text)).toBe(value)
})

it.each([...TEXTS, ...WORDS, ' 5', '5\n', '\t', 'a\n b'])('CP-05 a variable that is anything else is the text it is: %j', async (text) => {
  expect(await becomes(text)).toBe(text)
})

it('CP-05 whatever a variable holds, it is its own text or a literal', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'*&!#%@[]{}|>-?:,"\'` \n0.5eatrunl~+'), maxLength: 8 }), async (text) => {
      const value = await becomes(text)
      if (typeof value === 'string') expect(value).toBe(text)
      else expect(text).toMatch(/^[-+\w.~]*$/)
    }),
    { numRuns: 200 },
  )
})

it.each<readonly [text: string, value: unknown]>([
  ...LITERALS,
  ['#fff', '#fff'],
  ['5 # five', '5 # five'],
  [' spaced out ', 'spaced out'],
  ['"5"', '5'],
  ["'*x'", '*x'],
  ['[1, two]', [1, 'two']],
  ['{ a: { b: 1 } }', { a: { b: 1 } }],
  ['', null],
  ['note: hi', 'note: hi'],
  ['note: hi: there', 'note: hi: there'],
  ['- a', '- a'],
  ['? x', '? x'],
  ['a: b\nc: d', 'a: b\nc: d'],
])('CP-05 the value of a setting is YAML, without quotes and brackets a text or a literal: %j', (text, value) => {
  expect(parseSetting(`shell.x=${text}`)).toEqual(['shell.x', value])
})

it.each([
  ['*x', /^the value of shell\.x is not YAML: there is no anchor &x .*; a text that starts with \* takes quotes inside the setting: shell\.x='\*x'$/],
  ['[&a 1, *b]', /no anchor &b/],
  ['&a [*a]', /&a contains itself/],
  ['!!binary aGk=', /a value with the tag !!binary; a text that starts with ! takes quotes/],
  ['{ <<: { a: 1 } }', /YAML 1\.2 has no merge keys/],
  ['{ a: 1, a: 2 }', /"a" is there already/],
  ['[1', /is not YAML/],
  ['a\n---\nb', /a second document begins here/],
])('CP-05 a setting that is not YAML of the core schema is refused: %j', (text, message) => {
  expect(() => parseSetting(`shell.x=${text}`)).toThrow(SettingError)
  expect(() => parseSetting(`shell.x=${text}`)).toThrow(message)
})

async function configOf(set: Readonly<Record<string, SettingValue>>): Promise<unknown> {
  const dir = await folder({ 'car.yaml': 'plugins:\n  any: anything\n' })
  const { composition, diagnostics } = await checkCatalog(dir.file('car.yaml'), {
    edit: { set },
    firstParty: firstParty(),
    host: { env: { N: '5' } },
  })
  return diagnostics.length > 0 ? diagnostics.map(({ message, hint, source }) => [message, hint, source]) : composition.rows[0]?.config
}

it.each<readonly [text: string, value: unknown]>([
  ['any.x=${env:N}', 5],
  ['any.x=${env:NONE:-true}', true],
  ["any.x='${env:N}'", '5'],
  ['any.x="${env:N}"', '5'],
  ['any.x=["${env:N}"]', ['5']],
  ['any.x=${env:N}s', '5s'],
])('CP-05 an expression in a setting is typed only where it stands without quotes: %s', async (text, value) => {
  expect(await configOf(Object.fromEntries([parseSetting(text)]))).toEqual({ x: value })
})

it('CP-05 an expression in a setting of a program is a text, as in JSON, unless it says otherwise', async () => {
  expect(await configOf({ 'any.x': '${env:N}', 'any.y': { z: ['${env:N}'] } })).toEqual({ x: '5', y: { z: ['5'] } })
  expect(await configOf({ 'any.port': new Unquoted('${env:N}') })).toEqual({ port: 5 })
  const quoted = await configOf({ 'any.port': '${env:N}' })
  expect(quoted).toEqual([['row "any": port: expected a number, got the value of ${env:N}', undefined, 'any.port="${env:N}"']])
  expect(await configOf({ 'any.port': new Unquoted('${env:N}s') })).toMatchObject([[expect.any(String), undefined, 'any.port=${env:N}s']])
})
