import { rename, rm, symlink } from 'node:fs/promises'
import { Scope } from '@tenon/kernel'
import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { CompositionError, checkCatalog, openRuntime, type RuntimeEvent } from '../src/index.ts'
import { journalPlugin, noting, type Opened, open, quiet } from './journal.ts'

const files = {
  'top.yaml': 'extends: ./base.yaml\nplugins:\n  b: { use: ./b.ts, with: { n: 1 } }\n',
  'base.yaml': 'plugins:\n  journal: journal\n  a: ./a.ts\n',
  'a.ts': `import { word } from './lib/word.ts'\n${noting('a', { offers: 'a-thing', body: "journal.push('word ' + word)" })}`,
  'b.ts': noting('b', { needs: 'a-thing' }),
  'lib/word.ts': "export const word = 'one'\n",
}

interface Watched extends Opened {
  /** The next event that is not an edit of nothing. */
  next(): Promise<RuntimeEvent>
}

async function watched(): Promise<Watched> {
  const opened = await open(files, { watch: true })
  const events: RuntimeEvent[] = []
  opened.runtime.events.on(opened.runtime.kernel.scope, (event) => {
    const nothing =
      event.type === 'edited' && [event.edit.added, event.edit.removed, event.edit.reconfigured, event.edit.replaced].every((ids) => ids.length === 0)
    if (!nothing) events.push(event)
  })
  opened.news()
  const next = async (): Promise<RuntimeEvent> => {
    await expect.poll(() => events.length).toBeGreaterThan(0)
    return events.shift() as RuntimeEvent
  }
  return { ...opened, next }
}

const set = (n: unknown): string => files['top.yaml'].replace('n: 1', `n: ${n}`)

it('CP-07 a valid edit of the catalog converges', async () => {
  const { dir, next, news } = await watched()
  await dir.write('top.yaml', set(2))
  expect(await next()).toMatchObject({ type: 'edited', edit: { reconfigured: ['b'], untouched: ['a', 'journal'] } })
  expect(news()).toEqual(['b v1 down', 'b v1 up {"n":2}'])
})

it('CP-07 a file that is extended is followed too, and so is one that an edit begins to extend', async () => {
  const { dir, next, news } = await watched()
  await dir.write('base.yaml', `${files['base.yaml']}  c: { use: ./b.ts, with: { n: 7 } }\n`)
  expect(await next()).toMatchObject({ edit: { added: ['c'] } })
  await dir.write('more/extra.yaml', 'plugins:\n  b: { with: { n: 20 } }\n')
  await dir.write('top.yaml', 'extends: [./base.yaml, ./more/extra.yaml]\nplugins:\n  b: ./b.ts\n')
  expect(await next()).toMatchObject({ edit: { reconfigured: ['b'] } })
  await dir.write('more/extra.yaml', 'plugins:\n  b: { with: { n: 21 } }\n')
  expect(await next()).toMatchObject({ edit: { reconfigured: ['b'] } })
  expect(news().at(-1)).toBe('b v1 up {"n":21}')
})

it('CP-07 what is named through a link is looked at when it changes, and not before', async () => {
  const { dir } = await open(files)
  await symlink(dir.path, dir.file('linked'))
  await symlink('a.ts', dir.file('link.ts'))
  await dir.write('top.yaml', 'plugins:\n  journal: journal\n  a: ./link.ts\n')
  const journal: string[] = []
  const { watched } = await checkCatalog(dir.file('linked/top.yaml'), { firstParty: [journalPlugin(journal)] })
  // Under each of its names as what it is: of one that is missing, every look would find that it has come.
  expect([...watched].filter(([, print]) => print === 'missing')).toEqual([])
  const runtime = await openRuntime({ catalog: dir.file('linked/top.yaml'), firstParty: [journalPlugin(journal)], logger: quiet, watch: true })
  onTestFinished(() => runtime.close())
  await dir.write('a.ts', noting('a', { offers: 'a-thing', version: '2' }))
  await expect.poll(() => journal.at(-1)).toBe('a v2 up {"n":0}')
  await dir.write('other.ts', noting('a', { offers: 'a-thing', version: '3' }))
  await rm(dir.file('link.ts'))
  await symlink('other.ts', dir.file('link.ts'))
  await expect.poll(() => journal.at(-1)).toBe('a v3 up {"n":0}')
})

it('CP-07 the sources of a row given by path are followed, with what they import', async () => {
  const { dir, next, news } = await watched()
  await dir.write('b.ts', noting('b', { needs: 'a-thing', version: '2' }))
  expect(await next()).toMatchObject({ type: 'edited', edit: { replaced: ['b'], untouched: ['a', 'journal'] } })
  expect(news()).toEqual(['b v1 down', 'b v2 up {"n":1}'])
  await dir.write('lib/word.ts', "export const word = 'two'\n")
  expect(await next()).toMatchObject({ edit: { replaced: ['a'] } })
})

it('CP-07 a source that is written anew with what it held restarts nobody', async () => {
  const { dir, runtime, next, news } = await watched()
  await dir.write('a.ts', files['a.ts'])
  await dir.write('b.ts', `// only a comment\n${files['b.ts']}`)
  await dir.write('top.yaml', set(3))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['b'], replaced: [] } })
  expect(news()).toEqual(['b v1 down', 'b v1 up {"n":3}'])
  expect(runtime.kernel.row('a')?.phase).toBe('active')
})

it.each([
  ['a syntax error', 'plugins: [', 'CATALOG_SYNTAX'],
  ['an invalid config', set('many'), 'CONFIG_INVALID'],
])('CP-07 %s keeps the last good tree and says so, and the next edit is taken', async (_, text, code) => {
  const { dir, runtime, next, news } = await watched()
  await dir.write('top.yaml', text)
  const event = await next()
  expect(event).toMatchObject({ type: 'refused', error: { code: 'COMPOSITION_INVALID', diagnostics: [{ code }] } })
  expect(news()).toEqual([])
  expect(runtime.composition.rows.find(({ id }) => id === 'b')?.config).toEqual({ n: 1 })
  await dir.write('top.yaml', set(4))
  expect(await next()).toMatchObject({ type: 'edited', edit: { reconfigured: ['b'] } })
})

it('CP-07 code that does not compile keeps the old code, and is taken once it is mended', async () => {
  const { dir, next, news } = await watched()
  await dir.write('b.ts', 'export default {')
  const event = await next()
  expect(event.type === 'refused' && event.error).toBeInstanceOf(CompositionError)
  expect(news()).toEqual([])
  await dir.write('b.ts', noting('b', { needs: 'a-thing', version: '3' }))
  expect(await next()).toMatchObject({ edit: { replaced: ['b'] } })
})

it('CP-07 a failing activation restores the last good tree and says so', async () => {
  const { dir, runtime, next, news } = await watched()
  await dir.write('b.ts', noting('b', { needs: 'a-thing', version: '2', body: "throw new Error('boom')" }))
  expect(await next()).toMatchObject({ type: 'edited', edit: { replaced: ['b'], rolledBack: { code: 'ROLLED_BACK' } } })
  expect(news().at(-1)).toBe('b v1 up {"n":1}')
  expect(runtime.kernel.row('b')?.phase).toBe('active')
})

it('CP-07 ten edits in 100 ms converge to the last', async () => {
  const { dir, runtime, next, news } = await watched()
  for (let n = 11; n <= 20; n++) {
    await dir.write('top.yaml', set(n))
    await new Promise((resolve) => setTimeout(resolve, 8))
  }
  while (runtime.composition.rows.find(({ id }) => id === 'b')?.origins.find(({ path }) => path === 'with.n')?.value !== 20) await next()
  expect(news().at(-1)).toBe('b v1 up {"n":20}')
})

it('CP-07 editors that replace the file by rename are followed, time after time', async () => {
  const { dir, next, news } = await watched()
  for (const n of [5, 6, 7]) {
    await dir.write('top.yaml~', set(n))
    await rename(dir.file('top.yaml~'), dir.file('top.yaml'))
    expect(await next()).toMatchObject({ edit: { reconfigured: ['b'] } })
    expect(news().at(-1)).toBe(`b v1 up {"n":${n}}`)
  }
})

it('CP-07 a catalog file that is gone for a while is refused, and taken when it is back', async () => {
  const { dir, next, news } = await watched()
  await rm(dir.file('top.yaml'))
  expect(await next()).toMatchObject({ type: 'refused', error: { diagnostics: [{ code: 'CATALOG_UNREADABLE' }] } })
  await dir.write('top.yaml', set(8))
  expect(await next()).toMatchObject({ type: 'edited', edit: { reconfigured: ['b'] } })
  expect(news().at(-1)).toBe('b v1 up {"n":8}')
})

it('CP-07 a folder that is replaced, or removed and made again, is followed', async () => {
  const { dir, next } = await watched()
  for (const word of ['two', 'three']) {
    await dir.write(`new-${word}/word.ts`, `export const word = '${word}'\n`)
    await rename(dir.file('lib'), dir.file(`old-${word}`))
    await rename(dir.file(`new-${word}`), dir.file('lib'))
    expect(await next()).toMatchObject({ edit: { replaced: ['a'] } })
  }
  await rm(dir.file('lib'), { recursive: true })
  expect(await next()).toMatchObject({ type: 'refused' })
  await dir.write('lib/word.ts', "export const word = 'four'\n")
  expect(await next()).toMatchObject({ edit: { replaced: ['a'] } })
  await dir.write('lib/word.ts', "export const word = 'five'\n")
  expect(await next()).toMatchObject({ edit: { replaced: ['a'] } })
})

it('CP-07 a file that a link leads to is followed, and so is the link', async () => {
  const { dir, next } = await watched()
  for (const name of ['first', 'second']) await dir.write(`${name}/real.yaml`, set(name === 'first' ? 30 : 40))
  await symlink(dir.file('first/real.yaml'), dir.file('link'))
  await rename(dir.file('link'), dir.file('top.yaml'))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['b'] } })
  await dir.write('first/real.yaml', set(31))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['b'] } })
  await symlink(dir.file('second/real.yaml'), dir.file('link'))
  await rename(dir.file('link'), dir.file('top.yaml'))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['b'] } })
})

it('CP-07 a folder that comes later than the row that names it is followed', async () => {
  const { dir, next, news } = await watched()
  await dir.write('top.yaml', `${files['top.yaml']}  late: ./later/deep/late.ts\n`)
  expect(await next()).toMatchObject({ type: 'refused' })
  await dir.write('later/deep/late.ts', noting('late'))
  expect(await next()).toMatchObject({ type: 'edited', edit: { added: ['late'] } })
  expect(news()).toContain('late v1 up {"n":0}')
})

it('CP-07 a closed runtime follows nothing', async () => {
  const closed = await watched()
  await closed.runtime.close()
  closed.news()
  const events: RuntimeEvent[] = []
  closed.runtime.events.on(new Scope('test'), (event) => events.push(event))
  await closed.dir.write('top.yaml', set(9))
  // Another one sees a change that was made later.
  const other = await watched()
  await other.dir.write('top.yaml', set(9))
  await other.next()
  expect([closed.news(), events]).toEqual([[], []])
})

it('CP-07 a packaged row that was reloaded once is followed from then on, and stays what it was reloaded to', async () => {
  const source = (version: string): string => `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({ name: 'packed', inject: [capability('journal')], activate: (scope, journal) => void journal.push('packed v${version}') })
`
  const manifest = '{ "name": "packed", "type": "module", "exports": "./index.js" }'
  const { dir, runtime, journal, news } = await open(
    {
      'top.yaml': 'plugins:\n  journal: journal\n  packed: packed\n',
      'node_modules/packed/package.json': manifest,
      'node_modules/packed/index.js': source('1'),
    },
    { watch: true },
  )
  expect(news()).toEqual(['packed v1'])
  await dir.write('node_modules/packed/index.js', source('2'))
  await runtime.reload('packed')
  await dir.write('node_modules/packed/index.js', source('3'))
  await expect.poll(() => journal.at(-1)).toBe('packed v3')
  await runtime.apply({ disable: ['packed'] })
  await runtime.apply({ enable: ['packed'] })
  expect(news()).toEqual(['packed v2', 'packed v3', 'packed v3'])
})

it('CP-07 what a followed file cannot bring about is logged where nobody listens for it, and told once', async () => {
  const told: string[] = []
  const log = pino({ level: 'warn' }, { write: (line: string) => void told.push((JSON.parse(line) as { readonly msg: string }).msg) })
  const opened = await open(files, { watch: true, logger: log })
  await opened.dir.write('top.yaml', set('many'))
  await expect.poll(() => told).toEqual(['a changed file was not applied'])
  await opened.dir.write('b.ts', noting('b', { needs: 'a-thing', version: '2', body: "throw new Error('boom')" }))
  await opened.dir.write('top.yaml', set(2))
  await expect.poll(() => told).toContain('an edit was rolled back')

  const events: RuntimeEvent[] = []
  opened.runtime.events.on(opened.runtime.kernel.scope, (event) => void events.push(event))
  const before = told.length
  await opened.dir.write('top.yaml', 'plugins: [')
  await expect.poll(() => events.map(({ type }) => type)).toContain('refused')
  expect(told.slice(before)).toEqual([])
})
