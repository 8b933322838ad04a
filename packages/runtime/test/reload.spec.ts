import { capability } from '@tenon/kernel'
import { expect, it } from 'vitest'
import { CompositionError } from '../src/index.ts'
import { noting, type Opened, open } from './journal.ts'

const files = {
  'top.yaml': 'plugins:\n  journal: journal\n  a: ./a.ts\n  b: ./b.ts\n',
  'a.ts': noting('a', { offers: 'a-thing' }),
  'b.ts': noting('b', { needs: 'a-thing' }),
}

async function opened(): Promise<Opened> {
  const it = await open(files)
  it.news()
  return it
}

it('CP-10 a reload swaps the code in, dependents and all, once', async () => {
  const { dir, runtime, news } = await opened()
  await dir.write('a.ts', noting('a', { offers: 'a-thing', version: '2' }))
  const edit = await runtime.reload('a')
  expect(edit).toMatchObject({ replaced: ['a'], untouched: ['b', 'journal'] })
  expect(news()).toEqual(['b v1 down', 'a v1 down', 'a v2 up {"n":0}', 'b v1 up {"n":0}'])
})

it('CP-10 a reload takes in what the code imports inside its package', async () => {
  const { dir, runtime } = await open({
    'top.yaml': 'plugins:\n  word: ./word.ts\n',
    'word.ts': `import { capability, definePlugin } from '@tenon/kernel'
import { word } from './deep/word.ts'
const Word = capability<string>('word')
export default definePlugin({ name: 'word', provides: [Word], activate: (scope) => scope.provide(Word, word) })
`,
    'deep/word.ts': "export const word = 'first'\n",
  })
  expect(runtime.get(capability<string>('word'))).toBe('first')
  await dir.write('deep/word.ts', "export const word = 'second'\n")
  await runtime.reload('word')
  expect(runtime.get(capability<string>('word'))).toBe('second')
})

it.each([
  ['throws at import', "throw new Error('boom')\n", 'PLUGIN_LOAD_FAILED'],
  ['has a syntax error', 'export default {', 'PLUGIN_LOAD_FAILED'],
  ['is no plugin any more', 'export default 1\n', 'PLUGIN_INVALID'],
  ['refuses the config it had', noting('a', { offers: 'a-thing', config: 'z.strictObject({ must: z.string() })' }), 'CONFIG_INVALID'],
  ['no longer provides what others need', noting('a'), 'CAPABILITY_MISSING'],
])('CP-10 code that %s is refused, and the old code runs on untouched', async (_, source, code) => {
  const { dir, runtime, news } = await opened()
  await dir.write('a.ts', source)
  const error: unknown = await runtime.reload('a').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(CompositionError)
  expect((error as CompositionError).diagnostics.map((diagnostic) => diagnostic.code)).toEqual([code])
  expect(news()).toEqual([])
  await runtime.apply({ set: { 'b.n': 4 } })
  expect(news()).toEqual(['b v1 down', 'b v1 up {"n":4}'])
})

it('CP-10 code that throws in activate is rolled back to the old code', async () => {
  const { dir, runtime, news } = await opened()
  await dir.write('a.ts', noting('a', { offers: 'a-thing', version: '2', body: "throw new Error('boom')" }))
  const edit = await runtime.reload('a')
  expect(edit.rolledBack).toMatchObject({ code: 'ROLLED_BACK' })
  expect(news()).toEqual(['b v1 down', 'a v1 down', 'a v2 up {"n":0}', 'a v2 down', 'a v1 up {"n":0}', 'b v1 up {"n":0}'])
  expect(runtime.kernel.inspect().rows.map(({ id, phase }) => [id, phase])).toEqual([
    ['a', 'active'],
    ['b', 'active'],
    ['journal', 'active'],
  ])
})

it('rows that share their code reload together', async () => {
  const { dir, runtime, news } = await open({
    'top.yaml': 'plugins:\n  journal: journal\n  one: { use: ./a.ts, with: { n: 1 } }\n  two: { use: ./a.ts, with: { n: 2 } }\n',
    'a.ts': noting('a'),
  })
  news()
  await dir.write('a.ts', noting('a', { version: '2' }))
  expect((await runtime.reload('two')).replaced).toEqual(['one', 'two'])
})

it('a row that is not there, or does not run, cannot be reloaded', async () => {
  const { runtime } = await opened()
  await expect(runtime.reload('c')).rejects.toMatchObject({ code: 'ROW_UNKNOWN', message: 'there is no row "c"; rows: a, b, journal' })
  await runtime.apply({ disable: ['b'] })
  await expect(runtime.reload('b')).rejects.toMatchObject({ code: 'ROW_UNKNOWN', message: 'row "b" is not running: it is disabled' })
})

it('a failed reload is mended by the next', async () => {
  const { dir, runtime, news } = await opened()
  await dir.write('a.ts', 'nonsense(')
  await expect(runtime.reload('a')).rejects.toBeInstanceOf(CompositionError)
  await dir.write('a.ts', noting('a', { offers: 'a-thing', version: '3' }))
  await runtime.reload('a')
  expect(news()).toContain('a v3 up {"n":0}')
})

it('CP-10 code that changes in one edit with the file that no longer gives it a config loses the config', async () => {
  const { dir, runtime, news } = await open({
    'top.yaml': 'plugins:\n  journal: journal\n  a: { use: ./a.ts, with: { n: 4 } }\n',
    'a.ts': noting('a'),
  })
  await dir.write('a.ts', noting('a', { version: '2' }))
  await dir.write('top.yaml', 'plugins:\n  journal: journal\n  a: ./a.ts\n')
  expect(await runtime.reload('a')).toMatchObject({ replaced: ['a'] })
  expect(news()).toEqual(['a v1 up {"n":4}', 'a v1 down', 'a v2 up {"n":0}'])
})
