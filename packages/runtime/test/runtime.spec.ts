import { capability } from '@tenon/kernel'
import { expect, it } from 'vitest'
import { CompositionError, checkCatalog, NotActiveError, openRuntime, type Runtime } from '../src/index.ts'
import { folder } from './folder.ts'
import { journalPlugin, noting, open, quiet } from './journal.ts'

const catalog = (rows: string): string => `plugins:\n  journal: journal\n${rows}`

const three = {
  'top.yaml': catalog('  a: ./a.ts\n  b: { use: ./b.ts, with: { n: 1 } }\n  c: ./c.ts\n'),
  'a.ts': noting('a', { offers: 'a-thing' }),
  'b.ts': noting('b', { needs: 'a-thing', offers: 'b-thing' }),
  'c.ts': noting('c', { needs: 'b-thing' }),
}

const phases = ({ kernel, composition }: Runtime): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(composition.rows.map(({ id }) => [id, kernel.row(id)?.phase]))

it('a composition boots with what each row needs, and closes dependents first', async () => {
  const { runtime, news } = await open(three)
  expect(news()).toEqual(['a v1 up {"n":0}', 'b v1 up {"n":1}', 'c v1 up {"n":0}'])
  expect(phases(runtime)).toEqual({ a: 'active', b: 'active', c: 'active', journal: 'active' })
  expect(runtime.get(capability('a-thing'))).toEqual({})
  await Promise.all([runtime.close(), runtime.close()])
  expect(news()).toEqual(['c v1 down', 'b v1 down', 'a v1 down'])
  await expect(runtime.apply({})).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' })
})

it('a catalog with faults is refused before anything ran, with every diagnostic', async () => {
  const dir = await folder({ ...three, 'top.yaml': `${three['top.yaml']}  d: ./nope.ts\n  e: { use: journal, wiht: {} }\n` })
  const journal: string[] = []
  const failure = await openRuntime({ catalog: dir.file('top.yaml'), firstParty: [journalPlugin(journal)], logger: quiet }).catch(
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(CompositionError)
  expect((failure as CompositionError).diagnostics.map(({ code }) => code)).toEqual(['PLUGIN_UNKNOWN', 'CATALOG_UNKNOWN_KEY'])
  expect((failure as CompositionError).code).toBe('COMPOSITION_INVALID')
  expect(journal).toEqual([])
})

it('boot fails with the tree of causes when a required row fails, and everything is closed again', async () => {
  const dir = await folder({ ...three, 'a.ts': noting('a', { offers: 'a-thing', body: "throw new Error('no petrol')" }) })
  const journal: string[] = []
  const failure = await openRuntime({ catalog: dir.file('top.yaml'), firstParty: [journalPlugin(journal)], logger: quiet }).catch(
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(NotActiveError)
  const { code, message, causes } = failure as NotActiveError
  expect(code).toBe('ROW_NOT_ACTIVE')
  expect(causes.map(({ row }) => row)).toEqual(['a', 'b', 'c'])
  expect((failure as NotActiveError).positions.a).toEqual({ file: dir.file('top.yaml'), line: expect.any(Number), column: expect.any(Number) })
  expect(message).toMatch(/does not boot:\n {2}a \(failed\): .*no petrol/)
  expect(message).toMatch(/\n {2}c \(waiting\): .*b-thing.*\n {4}b \(waiting\): .*a-thing.*\n {6}a \(failed\): /)
  expect(journal).toEqual(['a v1 up {"n":0}', 'a v1 down'])
})

it('an optional row that fails, or cannot be loaded, leaves the others running', async () => {
  const { runtime } = await open({
    'top.yaml': catalog('  a: ./a.ts\n  bad: { use: ./bad.ts, criticality: optional }\n  gone: { use: ./gone.ts, criticality: optional }\n'),
    'a.ts': noting('a'),
    'bad.ts': noting('bad', { body: "throw new Error('no')" }),
  })
  expect(phases(runtime)).toEqual({ a: 'active', bad: 'failed', gone: undefined, journal: 'active' })
})

it('CP-08 the same composition in another order, with comments, through another layer: nobody restarts', async () => {
  const { dir, runtime, news } = await open(three)
  news()
  await dir.write('base.yaml', 'plugins:\n  c: { use: ./c.ts }\n  b: { with: { n: 1 }, use: ./b.ts }\n')
  await dir.write('top.yaml', '# moved\nname: other\nextends: ./base.yaml\nplugins:\n  a: { use: ./a.ts, with: }\n  journal: journal\n')
  const edit = await runtime.apply({})
  expect(edit).toEqual({ added: [], removed: [], reconfigured: [], replaced: [], untouched: ['a', 'b', 'c', 'journal'] })
  expect(news()).toEqual([])
  expect(runtime.composition.name).toBe('other')
})

it('CP-08 changing one option restarts that row and its dependents, once', async () => {
  const { runtime, news } = await open(three)
  news()
  const edit = await runtime.apply({ set: { 'b.n': 2 } })
  expect(edit).toEqual({ added: [], removed: [], reconfigured: ['b'], replaced: [], untouched: ['a', 'c', 'journal'] })
  expect(news()).toEqual(['c v1 down', 'b v1 down', 'b v1 up {"n":2}', 'c v1 up {"n":0}'])
  await runtime.apply({ set: { 'b.n': 2 } })
  expect(news()).toEqual([])
})

it('CP-08 several changes are one edit: a common dependent goes down once', async () => {
  const { runtime, news } = await open(three)
  news()
  const edit = await runtime.apply({ set: { 'a.n': 5, 'b.n': 6 } })
  expect(edit.reconfigured).toEqual(['a', 'b'])
  expect(news()).toEqual(['c v1 down', 'b v1 down', 'a v1 down', 'a v1 up {"n":5}', 'b v1 up {"n":6}', 'c v1 up {"n":0}'])
})

it('rows are disabled and enabled again, and an edit outlasts a change of the file', async () => {
  const { dir, runtime, news } = await open(three)
  news()
  expect((await runtime.apply({ disable: ['c'] })).removed).toEqual(['c'])
  await dir.write('top.yaml', three['top.yaml'].replace('n: 1', 'n: 3'))
  expect((await runtime.apply({})).reconfigured).toEqual(['b'])
  expect(runtime.composition.rows.find(({ id }) => id === 'c')).toMatchObject({ state: 'disabled' })
  expect((await runtime.apply({ enable: ['c'] })).added).toEqual(['c'])
  expect(news()).toEqual(['c v1 down', 'b v1 down', 'b v1 up {"n":3}', 'c v1 up {"n":0}'])
})

it('an edit that does not fit changes nothing and is told at the words of the edit', async () => {
  const { runtime, news } = await open(three)
  news()
  const refused = async (edit: Parameters<Runtime['apply']>[0]): Promise<readonly unknown[]> => {
    const error: unknown = await runtime.apply(edit).catch((thrown: unknown) => thrown)
    return error instanceof CompositionError ? error.diagnostics.map(({ file, column, message, hint }) => [file, column, message, hint]) : [error]
  }
  expect(await refused({ set: { 'b.n': 'many' } })).toEqual([['set', 5, 'row "b": n: expected a number, got "many"', undefined]])
  expect(await refused({ set: { 'bb.n': 1 } })).toEqual([['set', 1, 'there is no row "bb"', 'did you mean "b"?']])
  expect(await refused({ disable: ['jurnal'] })).toEqual([['disable', 1, 'there is no row "jurnal"', 'did you mean "journal"?']])
  expect(await refused({ disable: ['a'] })).toEqual([
    ['disable', 1, 'row "b" needs "a-thing", which no row provides', 'row "a" would provide it, but it is disabled: put it in, or take "b" out too'],
  ])
  expect(news()).toEqual([])
  expect((await runtime.apply({ set: { 'b.n': 9 } })).reconfigured).toEqual(['b'])
})

it('an edit whose activation fails is rolled back to the last good composition', async () => {
  const body = "if (scope.config.n > 10) throw new Error('too much')"
  const { runtime, news } = await open({ ...three, 'b.ts': noting('b', { needs: 'a-thing', offers: 'b-thing', body }) })
  news()
  const edit = await runtime.apply({ set: { 'b.n': 11 } })
  expect(edit.rolledBack).toMatchObject({ code: 'ROLLED_BACK' })
  expect(news().slice(-2)).toEqual(['b v1 up {"n":1}', 'c v1 up {"n":0}'])
  expect(phases(runtime)).toEqual({ a: 'active', b: 'active', c: 'active', journal: 'active' })
  expect(runtime.composition.rows.find(({ id }) => id === 'b')?.config).toEqual({ n: 1 })
  expect((await runtime.apply({ set: { 'a.n': 1 } })).rolledBack).toBeUndefined()
})

it('an edit that leaves a required row without what it needs is taken back', async () => {
  const { runtime, news } = await open({
    ...three,
    'top.yaml': catalog('  a: { use: ./a.ts, criticality: optional }\n  b: ./b.ts\n'),
    'a.ts': noting('a', { offers: 'a-thing', body: "if (scope.config.n > 10) throw new Error('too much')" }),
  })
  news()
  const edit = await runtime.apply({ set: { 'a.n': 11 } })
  expect(edit.rolledBack).toBeInstanceOf(Error)
  expect(phases(runtime)).toEqual({ a: 'active', b: 'active', journal: 'active' })
  expect(news().slice(-2)).toEqual(['a v1 up {"n":0}', 'b v1 up {"n":0}'])
})

it('edits queue: each sees the settled result of the one before', async () => {
  const { runtime, news } = await open(three)
  news()
  const edits = await Promise.all([1, 2, 3].map((n) => runtime.apply({ set: { 'c.n': n } })))
  expect(edits.map(({ reconfigured }) => reconfigured)).toEqual([['c'], ['c'], ['c']])
  expect(news().at(-1)).toBe('c v1 up {"n":3}')
})

it('a boot that is interrupted closes what it had opened', async () => {
  const slow = noting('c', { needs: 'b-thing', body: "await new Promise((resolve) => scope.signal.addEventListener('abort', resolve))" })
  const dir = await folder({ ...three, 'c.ts': slow })
  const journal: string[] = []
  const interruption = new AbortController()
  const opening = openRuntime({ catalog: dir.file('top.yaml'), firstParty: [journalPlugin(journal)], logger: quiet, signal: interruption.signal })
  await expect.poll(() => journal).toContain('c v1 up {"n":0}')
  interruption.abort()
  await expect(opening).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' })
  expect(journal.slice(-3)).toEqual(['c v1 down', 'b v1 down', 'a v1 down'])
  await expect(
    openRuntime({ catalog: dir.file('top.yaml'), firstParty: [journalPlugin(journal)], signal: AbortSignal.abort() }),
  ).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' })
})

it('CP-12 an edit under way does not hold up the close, which ends in order what the edit was about to start', async () => {
  const { dir, runtime, news } = await open(three)
  const hangs = noting('c', {
    needs: 'b-thing',
    version: '2',
    body: "await new Promise((resolve) => scope.signal.addEventListener('abort', resolve))",
  })
  await dir.write('c.ts', hangs)
  const edits = [runtime.reload('c'), runtime.apply({ set: { 'b.n': 2 } })]
  const ends = edits.map((edit) => expect(edit).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' }))
  await expect.poll(() => news()).toContain('c v2 up {"n":0}')
  await runtime.close()
  expect(news()).toEqual(['c v2 down', 'b v1 down', 'a v1 down'])
  await Promise.all(ends)
  expect(news()).toEqual([])
})

it('CP-08 an edit that cannot be taken back says so, and stands until the file is mended', async () => {
  const once = "if (journal.filter((line) => line.startsWith('a v1 up')).length > 1) throw new Error('in use')"
  const first = noting('a', { offers: 'a-thing', body: once })
  const { dir, runtime } = await open({ ...three, 'a.ts': first })
  // Declares what it does not offer.
  await dir.write('a.ts', noting('a', { offers: 'a-thing', version: '2' }).replace('scope.provide(offer, {})', 'void offer'))
  const edit = await runtime.reload('a')
  expect(edit).toMatchObject({ replaced: ['a'], stands: true, rolledBack: { causes: [{ row: 'b' }, { row: 'c' }] } })
  expect(edit.rolledBack?.message).toMatch(/could not be taken back: rolled back, because row "a": activation failed: in use/)
  expect(phases(runtime)).toEqual({ a: 'active', b: 'waiting', c: 'waiting', journal: 'active' })
  await dir.write('a.ts', noting('a', { offers: 'a-thing', version: '3' }))
  expect(await runtime.reload('a')).not.toHaveProperty('rolledBack')
  expect(phases(runtime)).toEqual({ a: 'active', b: 'active', c: 'active', journal: 'active' })
})

it('a composition that was checked elsewhere can be applied whole; rows it shares with the running one stay', async () => {
  const { dir, journal, runtime, news } = await open(three)
  news()
  await dir.write('other.yaml', 'extends: ./top.yaml\nplugins:\n  $unset: [c]\n  d: { use: ./c.ts, with: { n: 4 } }\n')
  const { ok, composition } = await checkCatalog(dir.file('other.yaml'), { firstParty: [journalPlugin(journal)] })
  expect(ok).toBe(true)
  const edit = await runtime.apply(composition)
  expect(edit).toEqual({ added: ['d'], removed: ['c'], reconfigured: [], replaced: [], untouched: ['a', 'b', 'journal'] })
  expect(runtime.composition.name).toBe('other')
  expect((await runtime.apply({ set: { 'd.n': 5 } })).reconfigured).toEqual(['d'])
  await dir.write('broken.yaml', 'extends: ./top.yaml\nplugins:\n  e: ./nope.ts\n')
  const broken = await checkCatalog(dir.file('broken.yaml'), { firstParty: [journalPlugin(journal)] })
  await expect(runtime.apply(broken.composition)).rejects.toMatchObject({
    code: 'COMPOSITION_INVALID',
    message: expect.stringMatching(/row "e" cannot run: there is no file/),
  })
})
