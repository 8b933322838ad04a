import { definePlugin, Kernel, type Scope } from '@tenon/kernel'
import { Tools } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openTools()
})
afterEach(() => app.kernel.close())

const scope = (name = 'plugin'): Scope => app.kernel.scope.child(name)
const names = () => app.tools.view().tools.map(({ name }) => name)

describe('the registry', () => {
  it('TL-01 a registered tool is in get and view, and leaves with its scope', async () => {
    const mine = scope()
    app.tools.register(mine, echo())
    expect(app.tools.get('echo')).toMatchObject({ name: 'echo', description: 'Says what it was given.' })
    expect(app.tools.view().tools).toEqual([app.tools.get('echo')])
    await mine.close()
    expect(app.tools.get('echo')).toBeUndefined()
    expect(app.tools.view().tools).toEqual([])
    expect(() => app.tools.register(mine, echo())).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(app.tools.get('echo')).toBeUndefined()
  })

  it.each(['__proto__', 'constructor', 'toString', '', 'missing'])('TL-01 the name %j is nobody', (name) => {
    expect(app.tools.get(name)).toBeUndefined()
  })

  const orders = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]
  it.each(orders)('TL-03 of three stacked ones undone in the order %i %i %i the newest live one is visible', async (...order) => {
    const scopes = [scope('a'), scope('b'), scope('c')]
    for (const [n, each] of scopes.entries()) app.tools.register(each, echo('echo', { description: `number ${n}` }))
    const live = [0, 1, 2]
    await drained()
    app.changes.length = 0
    for (const next of order) {
      const wasVisible = live.at(-1) === next
      live.splice(live.indexOf(next), 1)
      await scopes[next]?.close()
      expect(app.tools.get('echo')?.description).toBe(live.length > 0 ? `number ${live.at(-1)}` : undefined)
      await drained()
      expect(app.changes.splice(0)).toHaveLength(wasVisible ? 1 : 0)
    }
  })

  it('TL-04 a fork that flips a thousand times over a base never leaves the tool absent', async () => {
    app.tools.register(scope(), echo())
    let absent = 0
    let reads = 0
    let going = true
    const reader = (async () => {
      while (going) {
        reads++
        if (app.tools.get('echo') === undefined || !names().includes('echo')) absent++
        await Promise.resolve()
      }
    })()
    for (let flip = 0; flip < 1000; flip++) {
      const fork = scope('fork')
      app.tools.register(fork, echo('echo', { description: 'better' }))
      await fork.close()
    }
    going = false
    await reader
    expect(reads).toBeGreaterThan(1000)
    expect(absent).toBe(0)
    expect(app.tools.get('echo')?.description).toBe('Says what it was given.')
  })

  it("TL-05 covering another plugin's tool is logged with both owners, one's own silently", async () => {
    const base = (name: string) =>
      definePlugin({
        name,
        inject: [Tools],
        activate(own, tools) {
          tools.register(own, echo())
          own.inject([Tools], (fork, again) => again.register(fork, echo()))
        },
      })
    app.kernel.load(base('first'))
    await app.kernel.settled()
    expect(app.log.filter(({ fields }) => 'covered' in fields)).toEqual([])
    app.kernel.load(base('second'))
    await app.kernel.settled()
    expect(app.log.filter(({ fields }) => 'covered' in fields)).toEqual([
      expect.objectContaining({
        level: 'info',
        message: 'tool "echo" of "second" covers that of "first"',
        fields: expect.objectContaining({ row: 'tools', tool: 'echo', owner: 'second', covered: 'first' }),
      }),
    ])
  })

  it('TL-06 many registrations in a tick are one change with exact names', async () => {
    const kept = scope()
    const gone = scope()
    app.tools.register(kept, echo('kept'))
    app.tools.register(gone, echo('gone'))
    app.tools.register(kept, echo('same'))
    await drained()
    expect(app.changes).toEqual([{ epoch: 1, added: ['gone', 'kept', 'same'], removed: [], replaced: [] }])
    const next = scope()
    app.tools.register(next, echo('zebra'))
    app.tools.register(next, echo('ant'))
    app.tools.register(next, echo('kept', { description: 'other' }))
    app.tools.register(next, echo('same'))
    await gone.close()
    await drained()
    expect(app.changes.slice(1)).toEqual([{ epoch: 2, added: ['ant', 'zebra'], removed: ['gone'], replaced: ['kept'] }])
    expect(Object.isFrozen(app.changes[1])).toBe(true)
  })

  it('TL-06 nothing is announced if the view is equal, and a throwing listener is contained', async () => {
    const mine = scope()
    app.tools.changed.on(mine, () => {
      throw new Error('a listener fails')
    })
    app.tools.register(mine, echo('a'))
    await drained()
    app.tools.register(mine, echo('b'))
    await drained()
    expect(app.changes.map(({ added }) => added)).toEqual([['a'], ['b']])
    expect(app.complaints).toEqual(['host: listener: a listener fails', 'host: listener: a listener fails'])
    const brief = scope()
    app.tools.register(brief, echo('c'))
    await brief.close()
    app.tools.register(scope(), echo('a'))
    await drained()
    expect(app.changes).toHaveLength(2)
  })

  it('TL-08 the view is one frozen object per epoch, sorted by code unit whatever the order, without callbacks', async () => {
    const mine = scope()
    for (const name of ['b', 'B', 'a10', 'a2', 'A']) app.tools.register(mine, echo(name))
    app.tools.register(mine, raw('raw'))
    expect(names()).toEqual(['A', 'B', 'a10', 'a2', 'b', 'raw'])
    const view = app.tools.view()
    expect(app.tools.view()).toBe(view)
    const walk = (value: unknown): void => {
      expect(value).not.toBeTypeOf('function')
      if (typeof value !== 'object' || value === null) return
      expect(Object.isFrozen(value)).toBe(true)
      Object.values(value).forEach(walk)
    }
    walk(view)
    app.tools.register(mine, echo('a2'))
    expect(app.tools.view()).toBe(view)
    app.tools.register(mine, echo('a2', { description: 'other' }))
    expect(app.tools.view()).not.toBe(view)
    expect(app.tools.view().epoch).toBeGreaterThan(view.epoch)
  })

  it('an epoch names a content: what was announced before is the same view again', async () => {
    app.tools.register(scope(), echo('a'))
    await drained()
    const announced = app.tools.view()
    const brief = scope()
    app.tools.register(brief, echo('b'))
    const between = app.tools.view()
    expect(between.epoch).toBeGreaterThan(announced.epoch)
    await brief.close()
    expect(app.tools.view()).toBe(announced)
    app.tools.register(scope(), echo('c'))
    expect(app.tools.view().epoch).toBeGreaterThan(between.epoch)
  })

  it('is refused by kernels that end: registering on a closed kernel leaves nothing', async () => {
    const other = new Kernel({})
    const late = other.scope
    await other.close()
    expect(() => app.tools.register(late, echo('late'))).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
    expect(app.tools.get('late')).toBeUndefined()
  })
})
