import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { RuntimeEvent } from '../src/index.ts'
import { noting, type Opened, open } from './journal.ts'

const provider = (version: string, key = 'shared'): string => `import { capability, definePlugin } from '@tenon/kernel'
const Shared = capability<object>('${key}')
export default definePlugin({
  name: 'a',
  inject: [capability<string[]>('journal')],
  provides: [Shared],
  activate(scope, journal) {
    journal.push('a v${version} up')
    scope.provide(Shared, { m${version}() {} })
  },
})
`

const consumer = (version: string, key = 'shared'): string => `import { capability, definePlugin } from '@tenon/kernel'
export default definePlugin({
  name: 'b',
  inject: [capability<string[]>('journal'), capability<any>('${key}')],
  activate(_, journal, shared) {
    journal.push('b v${version} up')
    shared.m${version}()
  },
})
`

const catalog = (n: number): string => `plugins:\n  journal: journal\n  a: ./a.ts\n  b: ./b.ts\n  c: { use: ./c.ts, with: { n: ${n} } }\n`

/** With n: 7 it activates only once the journal says so. */
const GATE = "while (scope.config.n === 7 && !journal.includes('go')) await new Promise((resolve) => setTimeout(resolve, 5))"

interface Watched extends Opened {
  /** The next event that is not an edit of nothing. */
  next(): Promise<RuntimeEvent>
}

async function watched(): Promise<Watched> {
  const files = { 'top.yaml': catalog(1), 'a.ts': provider('1'), 'b.ts': consumer('1'), 'c.ts': noting('c', { body: GATE }) }
  const opened = await open(files, { watch: true })
  const events: RuntimeEvent[] = []
  opened.runtime.events.on(opened.runtime.kernel.scope, (event) => {
    const lists = event.type === 'edited' ? [event.edit.added, event.edit.removed, event.edit.reconfigured, event.edit.replaced] : [['refused']]
    if (lists.flat().length > 0) events.push(event)
  })
  opened.news()
  const next = async (): Promise<RuntimeEvent> => {
    await expect.poll(() => events.length).toBeGreaterThan(0)
    return events.shift() as RuntimeEvent
  }
  return { ...opened, next }
}

it('CP-07 two files that fit only together, saved one after the other, converge; what was rolled back is not tried again', async () => {
  const { dir, next, news } = await watched()
  await dir.write('a.ts', provider('2'))
  expect(await next()).toMatchObject({ edit: { replaced: ['a'], rolledBack: { code: 'ROLLED_BACK' } } })
  expect(news()).toEqual(['a v2 up', 'b v1 up', 'a v1 up', 'b v1 up'])
  await dir.write('b.ts', consumer('2'))
  const event = await next()
  expect(event).toMatchObject({ type: 'edited', edit: { replaced: ['a', 'b'] } })
  expect(event.type === 'edited' && event.edit.rolledBack).toBeUndefined()
  // Nothing comes between this and the next thing that is saved.
  await dir.write('top.yaml', catalog(2))
  expect(await next()).toMatchObject({ edit: { reconfigured: ['c'], replaced: [] } })
  expect(news()).toEqual(['a v2 up', 'b v2 up', 'c v1 down', 'c v1 up {"n":2}'])
})

it('CP-07 a capability that is renamed in one file after the other is refused once, then taken', async () => {
  const { dir, next, news } = await watched()
  await dir.write('a.ts', provider('1', 'renamed'))
  expect(await next()).toMatchObject({ type: 'refused', error: { diagnostics: [{ code: 'CAPABILITY_MISSING' }] } })
  expect(news()).toEqual([])
  await dir.write('b.ts', consumer('1', 'renamed'))
  expect(await next()).toMatchObject({ type: 'edited', edit: { replaced: ['a', 'b'] } })
  expect(news()).toEqual(['a v1 up', 'b v1 up'])
})

it('CP-07 of two files saved at once the broken one is mended: both are taken', async () => {
  const { dir, next, news } = await watched()
  await Promise.all([dir.write('a.ts', provider('2')), dir.write('b.ts', `${consumer('2')} }{`)])
  expect(await next()).toMatchObject({ type: 'refused', error: { diagnostics: [{ code: 'PLUGIN_LOAD_FAILED' }] } })
  await dir.write('b.ts', consumer('2'))
  expect(await next()).toMatchObject({ type: 'edited', edit: { replaced: ['a', 'b'] } })
  expect(news()).toEqual(['a v2 up', 'b v2 up'])
})

it('CP-07 code and catalog that fit only together converge too', async () => {
  const { dir, next, news } = await watched()
  await dir.write('c.ts', noting('c', { version: '2', config: 'z.strictObject({ m: z.number() })' }))
  expect(await next()).toMatchObject({ type: 'refused', error: { diagnostics: [{ code: 'CONFIG_INVALID' }, { code: 'CONFIG_UNKNOWN_KEY' }] } })
  await dir.write('top.yaml', catalog(1).replace('n: 1', 'm: 5'))
  expect(await next()).toMatchObject({ type: 'edited', edit: { replaced: ['c'] } })
  expect(news()).toEqual(['c v1 down', 'c v2 up {"m":5}'])
})

it('CP-07 an edit that is asked for leaves alone what was rolled back before', async () => {
  const { dir, runtime, next, journal } = await watched()
  await dir.write('a.ts', provider('2'))
  expect(await next()).toMatchObject({ edit: { rolledBack: { code: 'ROLLED_BACK' } } })
  expect(await runtime.apply({ set: { 'c.n': 8 } })).toMatchObject({ reconfigured: ['c'], replaced: [] })
  // Another one sees a change that was made later.
  const other = await watched()
  await other.dir.write('top.yaml', catalog(9))
  await other.next()
  expect(journal.filter((line) => line === 'a v2 up')).toHaveLength(1)
  await dir.write('a.ts', `${provider('1')}export const more = 1\n`)
  expect(await next()).toMatchObject({ edit: { replaced: ['a'] } })
  expect(journal.filter((line) => line === 'a v2 up')).toHaveLength(1)
})

it('CP-07 an edit that is refused does not lose what was saved before it', async () => {
  const { dir, runtime, next } = await watched()
  await dir.write('top.yaml', catalog(3))
  await expect(runtime.apply({ set: { 'cc.n': 8 } })).rejects.toMatchObject({ code: 'COMPOSITION_INVALID' })
  expect(await next()).toMatchObject({ type: 'edited', edit: { reconfigured: ['c'] } })
})

it('CP-07 what is saved twice while an edit is under way is refused once', async () => {
  const { dir, runtime, journal, next } = await watched()
  const underWay = runtime.apply({ set: { 'c.n': 7 } })
  await expect.poll(() => journal).toContain('c v1 up {"n":7}')
  for (const end of ['{', '[']) {
    await dir.write('b.ts', `export default ${end}`)
    // Another one sees a change that was made later.
    const other = await watched()
    await other.dir.write('top.yaml', catalog(9))
    await other.next()
  }
  journal.push('go')
  await underWay
  const events = [await next()]
  await dir.write('b.ts', `${consumer('1')}export const more = 1\n`)
  events.push(await next())
  expect(events.map(({ type }) => type)).toEqual(['refused', 'edited'])
})

it('CP-07 a refusal is told, whatever is asked for at the same time', async () => {
  const { dir, runtime, next } = await watched()
  await dir.write('b.ts', 'export default {')
  const told = next()
  for (let [n, waiting] = [10, true]; waiting; n++) {
    await runtime.apply({ set: { 'c.n': n } })
    waiting = await Promise.race([told.then(() => false), setImmediate(true)])
  }
  expect(await told).toMatchObject({ type: 'refused', error: { diagnostics: [{ code: 'PLUGIN_LOAD_FAILED' }] } })
})
