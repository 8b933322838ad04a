import type { Json } from '@tenon/kernel'
import { pino } from 'pino'
import { expect, it } from 'vitest'
import { CompositionError } from '../src/index.ts'
import { noting, type Opened, open } from './journal.ts'

const files = {
  'top.yaml': 'plugins:\n  journal: journal\n  a: ./a.ts\n  b: ./b.ts\n',
  'a.ts': noting('a'),
  'b.ts': noting('b'),
}
const WITHOUT_B = 'plugins:\n  journal: journal\n  a: ./a.ts\n'

async function opened(): Promise<Opened & { readonly warnings: string[] }> {
  const warnings: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push((JSON.parse(line) as { readonly msg: string }).msg) })
  const it = await open(files, { logger })
  it.news()
  return { ...it, warnings }
}

it.each([
  ['a setting', { set: { 'b.n': 5 } }, 'set b.n=5'],
  ['a row that was put in', { enable: ['b'] }, 'enable b'],
  ['a row that was taken out', { disable: ['b'] }, 'disable b'],
])('CP-07 %s whose row leaves the file is dropped with a warning, and later edits are taken', async (_, edit, words) => {
  const { dir, runtime, warnings } = await opened()
  await runtime.apply(edit)
  await dir.write('top.yaml', WITHOUT_B)
  const applied = await runtime.apply({ set: { 'a.n': 1 } })
  expect(applied).toMatchObject({ reconfigured: ['a'], dropped: [{ code: 'ROW_UNKNOWN', severity: 'warning' }] })
  expect(applied.dropped?.map(({ message }) => message)).toEqual([`\`${words}\` no longer applies and is dropped: there is no row "b"`])
  expect(warnings).toEqual(applied.dropped?.map(({ message }) => message))
  expect((await runtime.apply({ set: { 'a.n': 2 } })).dropped).toBeUndefined()
  expect(runtime.composition.rows.find(({ id }) => id === 'a')?.config).toEqual({ n: 2 })
})

it.each([
  ['is gone', 'z.strictObject({ m: z.number().default(0) }).prefault({})', 'CONFIG_UNKNOWN_KEY', '{"m":0}'],
  ['takes another kind of value', 'z.strictObject({ n: z.string().default("x") }).prefault({})', 'CONFIG_INVALID', '{"n":"x"}'],
  ['is gone with all the others', 'undefined', 'CONFIG_UNKNOWN_KEY', undefined],
])('CP-07 a setting whose option %s in new code is dropped, and the code is taken', async (_, config, code, up) => {
  const { dir, runtime, news } = await opened()
  await runtime.apply({ set: { 'b.n': 5, 'a.n': 3 } })
  news()
  await dir.write('b.ts', noting('b', { version: '2', config }))
  expect(await runtime.reload('b')).toMatchObject({ replaced: ['b'], reconfigured: [], dropped: [{ code, row: 'b' }] })
  expect(news()).toEqual(['b v1 down', `b v2 up ${up}`])
})

it('CP-07 a setting is dropped when the watched file loses its row, and the rest of the file is followed on', async () => {
  const { dir, runtime } = await open(files, { watch: true })
  await runtime.apply({ set: { 'b.n': 5 } })
  await dir.write('top.yaml', WITHOUT_B)
  await expect.poll(() => runtime.kernel.row('b')).toBeUndefined()
  await dir.write('top.yaml', `${WITHOUT_B}  again: { use: ./b.ts, with: { n: 9 } }\n`)
  await expect.poll(() => runtime.kernel.row('again')?.phase).toBe('active')
})

it('CP-07 a mistake in what is asked for is refused, and drops nothing that stands', async () => {
  const { dir, runtime } = await opened()
  await dir.write(
    'a.ts',
    noting('a', {
      config:
        'z.strictObject({ n: z.number().default(0), low: z.number().default(0) }).refine((c) => c.low <= c.n, { path: ["n"], message: "n is below low" }).prefault({})',
    }),
  )
  await runtime.reload('a')
  await runtime.apply({ set: { 'a.n': 5 } })
  const refused = async (edit: Parameters<typeof runtime.apply>[0]): Promise<unknown> => {
    const error: unknown = await runtime.apply(edit).catch((thrown: unknown) => thrown)
    return error instanceof CompositionError ? error.diagnostics.map(({ source, message }) => [source, message]) : error
  }
  expect(await refused({ set: { 'gone.n': 5 } })).toEqual([['gone.n=5', 'there is no row "gone"']])
  expect(await refused({ set: { 'a.low': 6 } })).toEqual([['a.n=5', 'row "a": n is below low']])
  await dir.write('top.yaml', WITHOUT_B)
  expect(await refused({ disable: ['b'] })).toEqual([['b', 'there is no row "b"']])
  expect(await runtime.apply({ set: { 'a.low': 4 } })).toMatchObject({ reconfigured: ['a'], removed: ['b'] })
  expect(runtime.composition.rows.find(({ id }) => id === 'a')?.config).toEqual({ n: 5, low: 4 })
})

it('CP-07 a file that cannot be read drops nothing', async () => {
  const { dir, runtime } = await opened()
  await runtime.apply({ set: { 'b.n': 5 } })
  await dir.write('top.yaml', 'plugins: [')
  await expect(runtime.apply({ set: { 'a.n': 1 } })).rejects.toMatchObject({ code: 'COMPOSITION_INVALID' })
  await dir.write('top.yaml', files['top.yaml'])
  expect((await runtime.apply({})).dropped).toBeUndefined()
  expect(runtime.composition.rows.find(({ id }) => id === 'b')?.config).toEqual({ n: 5 })
})

it('CP-07 of settings that lie inside each other the later one wins', async () => {
  const { runtime } = await open({
    'top.yaml': 'plugins:\n  journal: journal\n  a: { use: ./a.ts, with: { o: { p: 1, q: 1 } } }\n',
    'a.ts': noting('a', { config: 'z.strictObject({ o: z.looseObject({}) })' }),
  })
  const set = async (path: string, value: Json): Promise<unknown> => {
    await runtime.apply({ set: { [path]: value } })
    return runtime.composition.rows.find(({ id }) => id === 'a')?.config
  }
  expect(await set('a.o.p', 2)).toEqual({ o: { p: 2, q: 1 } })
  expect(await set('a.o', { r: 3 })).toEqual({ o: { r: 3 } })
  expect(await set('a.o.s', { t: 4 })).toEqual({ o: { r: 3, s: { t: 4 } } })
  expect(await set('a.o.s.u', 5)).toEqual({ o: { r: 3, s: { t: 4, u: 5 } } })
  expect(await set('a.o.s', {})).toEqual({ o: { r: 3, s: {} } })
  expect(await set('a.o', {})).toEqual({ o: {} })
})
