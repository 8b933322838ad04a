import { type Capability, definePlugin, Kernel, type Plugin, type Transaction } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, C, D, traced } from './traced.ts'

const number = (log: string[], name: string, token = A, inject: readonly Capability<string>[] = []): Plugin<{ n?: number } | undefined> =>
  definePlugin({
    name,
    inject,
    provides: [token],
    config: z.strictObject({ n: z.int().default(1), deep: z.record(z.string(), z.array(z.int())).default({}) }).prefault({}),
    activate(scope) {
      log.push(`${name} up ${scope.config.n}`)
      scope.defer(() => void log.push(`${name} down`))
      scope.provide(token, `${name} ${scope.config.n}`)
    },
  }) as Plugin<{ n?: number } | undefined>

describe('one edit', () => {
  it.each(['a transaction', 'one tick'] as const)(
    'KN-25 of three providers in %s restarts their common dependent once, and nobody else',
    async (how) => {
      await using kernel = new Kernel(quiet)
      const log: string[] = []
      const rows = [number(log, 'one', A), number(log, 'two', B), number(log, 'three', C)].map((plugin) => kernel.load(plugin))
      kernel.load(traced(log, 'user', { inject: [A, B, C] }))
      kernel.load(traced(log, 'bystander'))
      await kernel.settled()
      log.length = 0
      if (how === 'a transaction') {
        const report = await kernel.transaction((tx) => {
          for (const { id } of rows) tx.reconfigure(id, { n: 2 })
        })
        expect(report).toMatchObject({ outcome: 'committed', reconfigured: ['one', 'two', 'three'], loaded: [], untouched: [] })
      } else {
        for (const row of rows) void row.reconfigure({ n: 2 })
      }
      await kernel.settled()
      expect(log).toEqual(['user down', 'three down', 'two down', 'one down', 'one up 2', 'two up 2', 'three up 2', 'user up one 2 two 2 three 2'])
    },
  )

  it('KN-25 takes everything down before anything comes up', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    kernel.load(traced(log, 'slow', { down }))
    kernel.load(number(log, 'quick'))
    await kernel.settled()
    log.length = 0
    const report = kernel.transaction((tx) => {
      tx.unload('slow')
      tx.reconfigure('quick', { n: 2 })
      tx.load(traced(log, 'new'))
    })
    await down.reached
    await drained()
    expect(log).toEqual(expect.not.arrayContaining(['new up', 'quick up 2']))
    down.open()
    await report
    expect(log.indexOf('slow closed')).toBeLessThan(Math.min(log.indexOf('new up'), log.indexOf('quick up 2')))
  })

  it('KN-25 of a chain restarts each row once, in order', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'leaf', { inject: [A, B] }))
    kernel.load(traced(log, 'middle', { inject: [A], provides: [B] }))
    const root = kernel.load(number(log, 'root'))
    await kernel.settled()
    log.length = 0
    await root.reconfigure({ n: 2 })
    await kernel.settled()
    expect(log).toEqual(['leaf down', 'middle down', 'root down', 'root up 2', 'middle up root 2', 'leaf up root 2 middle#2'])
  })
})

describe('an edit that changes nothing', () => {
  it.each([{}, { n: 1 }, { deep: {}, n: 1 }, undefined])('KN-26 restarts nobody: %j is equal to the config of the row', async (config) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(number(log, 'row'))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    await row.reconfigure(config)
    const report = await kernel.transaction((tx) => tx.reconfigure('row', config))
    await kernel.settled()
    expect([log, report.outcome, report.untouched, report.reconfigured]).toEqual([['row up 1', 'user up row 1'], 'committed', ['row'], []])
  })

  it('KN-26 is told by the depth of the config, whatever the order of its keys', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(number(log, 'row'), { n: 2, deep: { a: [1, 2], b: [] } } as { n: number })
    await row.ready()
    await row.reconfigure({ deep: { b: [], a: [1, 2] }, n: 2 })
    expect(log).toEqual(['row up 2'])
    await row.reconfigure({ deep: { b: [], a: [2, 1] }, n: 2 })
    expect(log).toEqual(['row up 2', 'row down', 'row up 2'])
  })

  it('KN-26 tries a failed row again, in a transaction as well', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'row', { fails: (run) => run < 2 }))
    await kernel.settled()
    const report = await kernel.transaction((tx) => tx.reconfigure('row', undefined))
    expect([report.outcome, phases(kernel)]).toEqual(['committed', { row: 'active' }])
  })

  it('KN-26 an empty transaction commits', async () => {
    await using kernel = new Kernel(quiet)
    expect(await kernel.transaction(() => undefined)).toMatchObject({
      outcome: 'committed',
      loaded: [],
      unloaded: [],
      replaced: [],
      reconfigured: [],
    })
  })
})

describe('an invalid edit', () => {
  const invalid: [string, string | undefined, (tx: Transaction) => void][] = [
    ['a config that does not parse', 'CONFIG_INVALID', (tx) => tx.reconfigure('base', { n: 'many' })],
    ['a config of a new row that does not parse', 'CONFIG_INVALID', (tx) => tx.load(number([], 'fresh') as Plugin, { m: 1 })],
    ['new code that does not take the config', 'CONFIG_INVALID', (tx) => tx.replace('base', number([], 'base') as Plugin, { n: 'many' })],
    ['an id in use', 'PLUGIN_LOADED_TWICE', (tx) => tx.load(number([], 'base', D))],
    [
      'an id loaded twice',
      'PLUGIN_LOADED_TWICE',
      (tx) => {
        for (const id of [1, 2]) tx.load(traced([], `twin-${id}`), undefined, { id: 'twin' })
      },
    ],
    ['an unknown row to unload', undefined, (tx) => tx.unload('bas')],
    ['an unknown row to reconfigure', undefined, (tx) => tx.reconfigure('bas', {})],
    ['an unknown row to replace', undefined, (tx) => tx.replace('bas', traced([], 'bas'))],
    [
      'a row unloaded before in the same edit',
      undefined,
      (tx) => {
        tx.unload('base')
        tx.reconfigure('base', { n: 3 })
      },
    ],
    ['what is no plugin', undefined, (tx) => tx.load({} as Plugin)],
    ['an offer that is no capability', 'CAPABILITY_KEY_INVALID', (tx) => tx.load({ ...traced([], 'fresh'), provides: [{ key: 'x' }] as never })],
    ['a need that is no capability', 'CAPABILITY_KEY_INVALID', (tx) => tx.load({ ...traced([], 'fresh'), inject: [undefined] as never })],
    [
      'a cycle of two',
      'CAPABILITY_CYCLE',
      (tx) => {
        tx.load(traced([], 'x', { inject: [C], provides: [D] }))
        tx.load(traced([], 'y', { inject: [D], provides: [C] }))
      },
    ],
    ['a row that needs what it provides', 'CAPABILITY_CYCLE', (tx) => tx.load(traced([], 'x', { inject: [C], provides: [C] }))],
    ['new code that closes a ring', 'CAPABILITY_CYCLE', (tx) => tx.replace('base', number([], 'base', A, [B]))],
    ['new code whose need nobody provides', 'PLUGIN_UNRESOLVED', (tx) => tx.replace('base', number([], 'base', A, [C]))],
    [
      'new code whose only provider goes in the same edit',
      'PLUGIN_UNRESOLVED',
      (tx) => {
        tx.unload('user')
        tx.replace('base', number([], 'base', A, [B]))
      },
    ],
    [
      'new code whose only provider gives it up in the same edit',
      'PLUGIN_UNRESOLVED',
      (tx) => {
        tx.replace('user', traced([], 'user'))
        tx.replace('base', number([], 'base', A, [B]))
      },
    ],
    ['new code that claims what another row holds', 'CAPABILITY_TAKEN', (tx) => tx.replace('base', number([], 'base', B))],
    [
      'an edit that throws',
      undefined,
      () => {
        throw new Error('changed my mind')
      },
    ],
  ]

  it.each(invalid)('KN-27 has no effect at all: %s', async (_, code, edit) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(number(log, 'base'))
    kernel.load(traced(log, 'user', { inject: [A], provides: [B] }))
    await kernel.settled()
    const before = kernel.inspect()
    const events: string[] = []
    kernel.events.on(kernel.scope, ({ type }) => void events.push(type))
    const transaction = kernel.transaction((tx) => {
      tx.reconfigure('base', { n: 2 })
      tx.load(traced(log, 'other'))
      edit(tx)
    })
    await expect(transaction).rejects.toBeInstanceOf(Error)
    if (code !== undefined) await expect(transaction).rejects.toMatchObject({ code })
    await kernel.settled()
    expect(log).toEqual(['base up 1', 'user up base 1'])
    expect(kernel.inspect()).toEqual(before)
    expect(events.filter((type) => type !== 'transaction')).toEqual([])
    expect((await kernel.transaction((tx) => tx.reconfigure('base', { n: 2 }))).outcome).toBe('committed')
  })

  it('KN-27 an unknown row is named, with those there are', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(traced([], 'local-bash'))
    await expect(kernel.transaction((tx) => tx.unload('locl-bash'))).rejects.toMatchObject({
      message: expect.stringMatching(/locl-bash.*local-bash/s),
    })
  })

  it('KN-27 B166 a cycle is refused with its path, by `load`, `replace` and a transaction', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'x', { inject: [A], provides: [B] }))
    kernel.load(traced(log, 'y', { inject: [B], provides: [C] }))
    const path = expect.objectContaining({
      code: 'CAPABILITY_CYCLE',
      message: expect.stringMatching(/x.*y.*z|y.*z.*x|z.*x.*y|z.*y.*x|y.*x.*z|x.*z.*y/s),
    })
    const closing = traced(log, 'z', { inject: [C], provides: [A] })
    expect(() => kernel.load(closing)).toThrow(path)
    await expect(kernel.transaction((tx) => tx.load(closing))).rejects.toEqual(path)
    const innocent = kernel.load(traced(log, 'z', { provides: [A] }))
    await kernel.settled()
    log.length = 0
    await expect(innocent.replace(closing)).rejects.toEqual(path)
    expect([log, phases(kernel)]).toEqual([[], { x: 'active', y: 'active', z: 'active' }])
  })

  it('KN-27 the edit object is dead once the edit has returned', async () => {
    await using kernel = new Kernel(quiet)
    let leaked: Transaction | undefined
    await kernel.transaction((tx) => {
      leaked = tx
    })
    expect(() => leaked?.load(traced([], 'late'))).toThrow()
    await kernel.settled()
    expect(kernel.inspect().rows).toEqual([])
  })
})

describe('a swap', () => {
  it.each(['unload first', 'load first'])(
    'KN-28 of one provider for another of the same capability under another id works in one transaction, %s',
    async (order) => {
      await using kernel = new Kernel(quiet)
      const log: string[] = []
      kernel.load(traced(log, 'old', { provides: [A] }))
      kernel.load(traced(log, 'user', { inject: [A] }))
      kernel.load(traced(log, 'bystander'))
      await kernel.settled()
      log.length = 0
      const report = await kernel.transaction((tx) => {
        if (order === 'unload first') tx.unload('old')
        tx.load(traced(log, 'new', { provides: [A] }))
        if (order === 'load first') tx.unload('old')
      })
      expect(report).toMatchObject({ outcome: 'committed', loaded: ['new'], unloaded: ['old'] })
      expect(log).toEqual(['user down', 'old down', 'new up', 'user up new#1'])
      expect(phases(kernel)).toEqual({ user: 'active', bystander: 'active', new: 'active' })
    },
  )

  it.each<[string, string | undefined]>([
    ['moves to a row that is there already', undefined],
    ['is swapped for what that row provided', 'B'],
  ])('KN-28 a capability %s', async (_, swapped) => {
    await using kernel = new Kernel(quiet)
    const provider = (name: string, offers: readonly Capability<string>[]): Plugin =>
      definePlugin({
        name,
        provides: offers,
        activate(scope) {
          for (const offer of offers) scope.provide(offer, name)
        },
      }) as Plugin
    kernel.load(provider('one', [A]))
    kernel.load(provider('two', swapped === undefined ? [] : [B]))
    const user = kernel.load(definePlugin({ name: 'user', inject: [A], activate: () => undefined }))
    await user.ready()
    const { outcome } = await kernel.transaction((tx) => {
      tx.replace('one', provider('one', swapped === undefined ? [] : [B]))
      tx.replace('two', provider('two', [A]))
    })
    expect([outcome, kernel.get(A), kernel.get(B), user.phase]).toEqual(['committed', 'two', swapped === undefined ? undefined : 'one', 'active'])
  })

  it('KN-28 to one whose need comes with the same transaction', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'old', { provides: [A] }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    log.length = 0
    await kernel.transaction((tx) => {
      tx.load(traced(log, 'new', { inject: [B], provides: [A] }))
      tx.unload('old')
      tx.load(traced(log, 'base', { provides: [B] }))
    })
    expect(log).toEqual(['user down', 'old down', 'base up', 'new up base#1', 'user up new#1'])
  })

  it('KN-28 under the same id is a new row: unload and load in one transaction', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const first = kernel.load(traced(log, 'old', { provides: [A] }), undefined, { id: 'x' })
    await kernel.settled()
    await kernel.transaction((tx) => {
      tx.unload('x')
      tx.load(traced(log, 'new', { provides: [A] }), undefined, { id: 'x' })
    })
    expect([log, first.phase, kernel.row('x')?.phase]).toEqual([['old up', 'old down', 'new up'], 'unloaded', 'active'])
  })
})
