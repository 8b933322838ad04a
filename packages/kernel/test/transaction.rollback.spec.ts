import { definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { forked } from './forked.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'

/** Provides its config; fails on one that starts with "bad". */
function setting(log: string[], name = 'setting'): Plugin<string> {
  return definePlugin({
    name,
    config: z.string(),
    provides: [A],
    activate(scope) {
      log.push(`${name} up ${scope.config}`)
      scope.defer(() => void log.push(`${name} down`))
      if (scope.config.startsWith('bad')) throw new Error(`cannot work with ${scope.config}`)
      scope.provide(A, scope.config)
    },
  })
}

/** Fails when what it injects is the given value. */
function picky(log: string[], refused: string): Plugin<undefined> {
  return definePlugin({
    name: 'picky',
    inject: [A],
    activate(_, value) {
      log.push(`picky up ${value}`)
      if (value === refused) throw new Error(`does not like ${value}`)
    },
  })
}

describe('new code that fails', () => {
  it('KN-29 B161 is taken back: the old code is active again with its config, dependents too, and the caller is told why', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(setting(log), 'good')
    kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(traced(log, 'bystander'))
    await kernel.settled()
    log.length = 0
    await expect(row.replace(setting(log, 'newer'), 'bad idea')).rejects.toMatchObject({
      code: 'ROLLED_BACK',
      message: expect.stringContaining('setting'),
      cause: { message: expect.stringContaining('cannot work with bad idea') },
    })
    expect(log).toEqual(['user down', 'setting down', 'newer up bad idea', 'newer down', 'setting up good', 'user up good'])
    expect([row.name, phases(kernel), kernel.get(A)]).toEqual(['setting', { setting: 'active', user: 'active', bystander: 'active' }, 'good'])
  })

  it('KN-29 in a transaction resolves with a report that says so', async () => {
    await using kernel = new Kernel(quiet)
    const events: unknown[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'transaction') events.push(event.outcome)
    })
    kernel.load(setting([]), 'good')
    await kernel.settled()
    const report = await kernel.transaction((tx) => {
      tx.replace('setting', setting([]), 'bad')
      tx.load(traced([], 'extra'))
    })
    expect(report).toMatchObject({ outcome: 'rolled-back', error: { code: 'ROLLED_BACK' } })
    expect(report.error?.cause).toMatchObject({ message: expect.stringContaining('cannot work with bad') })
    expect(report.rollbackError).toBeUndefined()
    expect([kernel.row('extra'), events]).toEqual([undefined, ['rolled-back']])
  })

  it('KN-29 when the old code fails too, the report says both', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(traced([], 'row', { fails: (run) => run > 1 }))
    await kernel.settled()
    const report = await kernel.transaction((tx) => tx.replace('row', traced([], 'row', { fails: () => true })))
    expect(report).toMatchObject({
      outcome: 'rolled-back',
      error: {
        code: 'ROLLED_BACK',
        message: expect.stringMatching(/^rolled back, because row "row": .*run 1; what was there before failed as well: row "row": .*run 2$/),
        cause: { message: expect.stringContaining('fails on run 1') },
      },
      rollbackError: { message: expect.stringContaining('fails on run 2') },
    })
    expect(phases(kernel)).toEqual({ row: 'failed' })
  })

  it('KN-29 is cancelled when it takes longer than its budget, and the old code is active again', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 30 } })
    const row = kernel.load(setting([]), 'good')
    await row.ready()
    const hung = definePlugin({ name: 'setting', config: z.string(), activate: () => new Promise<void>(() => undefined) })
    await expect(row.replace(hung)).rejects.toMatchObject({ code: 'ROLLED_BACK', cause: { code: 'ACTIVATION_TIMEOUT' } })
    expect([row.phase, kernel.get(A)]).toEqual(['active', 'good'])
  })
})

describe('a transaction fails as a whole', () => {
  it('KN-29 when a row it loads fails: everything is as it was, in the same load order', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(setting(log, 'one'), 'good')
    kernel.load(traced(log, 'two', { provides: [B] }))
    kernel.load(traced(log, 'three'))
    await kernel.settled()
    const before = kernel.inspect().rows.map(({ id, phase, plugin, provides }) => ({ id, phase, plugin, provides }))
    const report = await kernel.transaction((tx) => {
      tx.unload('two')
      tx.replace('three', traced(log, 'newer-three'))
      tx.reconfigure('one', 'better')
      tx.load(traced(log, 'broken', { fails: () => true }))
      tx.load(traced(log, 'worse', { fails: () => true }))
    })
    expect(report).toMatchObject({
      outcome: 'rolled-back',
      error: { message: expect.stringMatching(/^rolled back, because row "broken": .*; row "worse" failed too$/), details: ['broken', 'worse'] },
    })
    expect(kernel.inspect().rows.map(({ id, phase, plugin, provides }) => ({ id, phase, plugin, provides }))).toEqual(before)
    expect([kernel.get(A), kernel.get(B) !== undefined]).toEqual(['good', true])
    log.length = 0
    await kernel.close()
    expect(log).toEqual(['three down', 'two down', 'one down'])
  })

  it('KN-29 when a row it did not name, active before, fails on what it brings', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(setting(log), 'good')
    kernel.load(picky(log, 'better'))
    await kernel.settled()
    const report = await kernel.transaction((tx) => tx.reconfigure('setting', 'better'))
    expect(report).toMatchObject({ outcome: 'rolled-back', error: { cause: { message: expect.stringContaining('does not like better') } } })
    expect([phases(kernel), kernel.get(A)]).toEqual([{ setting: 'active', picky: 'active' }, 'good'])
  })

  it('KN-29 not when an optional row fails', async () => {
    await using kernel = new Kernel(quiet)
    const report = await kernel.transaction((tx) => {
      tx.load(traced([], 'broken', { fails: () => true }), undefined, { optional: true })
      tx.load(traced([], 'good'))
    })
    expect([report.outcome, phases(kernel)]).toEqual(['committed', { broken: 'failed', good: 'active' }])
  })

  it('KN-29 not when a row that had failed before, and that it does not name, fails again', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(setting(log), 'good')
    kernel.load(picky(log, 'good'))
    await kernel.settled()
    expect(phases(kernel).picky).toBe('failed')
    const stays = await kernel.transaction((tx) => tx.reconfigure('setting', 'better'))
    expect([stays.outcome, phases(kernel).picky]).toEqual(['committed', 'active'])
    const fails = await kernel.transaction((tx) => tx.reconfigure('setting', 'good'))
    expect([fails.outcome, phases(kernel).picky, kernel.get(A)]).toEqual(['rolled-back', 'active', 'better'])
  })

  it('KN-29 not when a row it loads has nobody to bring what it needs: that waits', async () => {
    await using kernel = new Kernel(quiet)
    const report = await kernel.transaction((tx) => tx.load(traced([], 'user', { inject: [A] })))
    expect([report.outcome, phases(kernel)]).toEqual(['committed', { user: 'waiting' }])
  })

  it('KN-29 a swap whose new provider fails brings the old one back, dependents too', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'old', { provides: [A] }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    const report = await kernel.transaction((tx) => {
      tx.unload('old')
      tx.load(traced(log, 'new', { provides: [A], fails: () => true }))
    })
    await kernel.settled()
    expect([report.outcome, phases(kernel)]).toEqual(['rolled-back', { old: 'active', user: 'active' }])
    expect(log).toEqual(['old up', 'user up old#1', 'user down', 'old down', 'new up', 'new down', 'old up', 'user up old#2'])
  })

  it('KN-29 the row object of a row that came back still speaks for it', async () => {
    await using kernel = new Kernel(quiet)
    const row = kernel.load(traced([], 'row'))
    await row.ready()
    const report = await kernel.transaction((tx) => {
      tx.unload('row')
      tx.load(traced([], 'broken', { fails: () => true }))
    })
    expect([report.outcome, kernel.row('row') === row, row.phase]).toEqual(['rolled-back', true, 'active'])
    await row.unload()
    expect([row.phase, kernel.row('row')]).toEqual(['unloaded', undefined])
  })
})

describe('commands that arrive while a transaction runs', () => {
  it('KN-29 are not lost when it is rolled back: what was loaded stays, what was unloaded stays away', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(setting(log), 'good')
    const leaving = kernel.load(traced(log, 'leaving'))
    const changing = kernel.load(setting(log, 'changing'), 'one', { id: 'changing' })
    await kernel.settled()
    const up = new Gate()
    const transaction = kernel.transaction((tx) => {
      tx.reconfigure('setting', 'better')
      tx.load(traced(log, 'broken', { up, fails: () => true }))
    })
    await up.reached
    kernel.load(traced(log, 'fresh'))
    void leaving.unload()
    changing.reconfigure('two').catch(() => undefined)
    await drained()
    up.open()
    expect((await transaction).outcome).toBe('rolled-back')
    await kernel.settled()
    expect(phases(kernel)).toEqual({ setting: 'active', changing: 'waiting', fresh: 'active' })
    expect(kernel.get(A)).toBe('good')
    await kernel.row('setting')?.unload()
    await changing.ready()
    expect(kernel.get(A)).toBe('two')
  })

  it.each([
    ['to something else', 'best'],
    ['to the very same', 'better'],
  ])('KN-29 stand even for a row that the transaction itself has changed: %s', async (_, config) => {
    await using kernel = new Kernel(quiet)
    const row = kernel.load(setting([]), 'good')
    await row.ready()
    const up = new Gate()
    const transaction = kernel.transaction((tx) => {
      tx.reconfigure('setting', 'better')
      tx.load(traced([], 'broken', { up, fails: () => true }))
    })
    await up.reached
    row.reconfigure(config).catch(() => undefined)
    await drained()
    up.open()
    expect((await transaction).outcome).toBe('rolled-back')
    await kernel.settled()
    expect(kernel.get(A)).toBe(config)
  })

  it('KN-29 the id of a row that a transaction unloads is not free before it has been committed', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const old = kernel.load(traced(log, 'old'), undefined, { id: 'x' })
    await kernel.settled()
    for (const fails of [true, false]) {
      const up = new Gate()
      const transaction = kernel.transaction((tx) => {
        tx.unload('x')
        tx.load(traced(log, 'other', { up, fails: () => fails }))
      })
      await up.reached
      expect(() => kernel.load(traced(log, 'usurper'), undefined, { id: 'x' })).toThrow(expect.objectContaining({ code: 'PLUGIN_LOADED_TWICE' }))
      up.open()
      await transaction
      await kernel.settled()
      expect(kernel.row('x')).toBe(fails ? old : undefined)
    }
    await kernel.load(traced(log, 'successor'), undefined, { id: 'x' }).ready()
    expect(log).not.toContain('usurper up')
  })

  it('KN-29 a row that is unloaded after a transaction has given it other code stays away, and nobody waits for it', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(traced([], 'provider', { provides: [A] }))
    kernel.load(forked(log, 'fork', { needs: [A] }))
    await kernel.settled()
    log.length = 0
    const up = new Gate()
    const transaction = kernel.transaction((tx) => {
      tx.replace('provider', traced([], 'provider', { provides: [A, B] }))
      tx.load(traced([], 'broken', { up, fails: () => true }))
    })
    await up.reached
    void row.unload()
    await drained()
    up.open()
    expect((await transaction).outcome).toBe('rolled-back')
    await kernel.settled()
    expect([row.phase, phases(kernel), log.at(-1)]).toEqual(['unloaded', { fork: 'active' }, 'fork + otherwise'])
    expect(JSON.stringify(kernel.inspect())).not.toContain('provider')
    const user = kernel.load(traced([], 'user', { inject: [A] }))
    await expect(user.ready()).rejects.toMatchObject({ code: 'PLUGIN_UNRESOLVED', message: expect.not.stringContaining('provider"') })
  })

  it('KN-29 a row that is asked to go while a transaction has it unloaded does not come back', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(traced(log, 'row'))
    await kernel.settled()
    const up = new Gate()
    const transaction = kernel.transaction((tx) => {
      tx.unload('row')
      tx.load(traced(log, 'broken', { up, fails: () => true }))
    })
    await up.reached
    const unloading = row.unload()
    up.open()
    expect((await transaction).outcome).toBe('rolled-back')
    await unloading
    await kernel.settled()
    expect([row.phase, kernel.row('row')]).toEqual(['unloaded', undefined])
  })
})

describe('the queue', () => {
  it('KN-30 each transaction sees the settled result of the one before, valid or not, committed or not', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const seen: unknown[] = []
    const first = kernel.transaction((tx) => tx.load(traced(log, 'one', { provides: [A], up })))
    const second = kernel.transaction((tx) => {
      seen.push(['second', phases(kernel)])
      tx.load(traced(log, 'broken', { fails: () => true }))
      tx.unload('one')
    })
    const third = kernel.transaction((tx) => {
      seen.push(['third', phases(kernel)])
      tx.unload('nobody')
    })
    const fourth = kernel.transaction((tx) => {
      seen.push(['fourth', phases(kernel)])
      tx.load(traced(log, 'user', { inject: [A] }))
      tx.reconfigure('one', undefined)
    })
    await up.reached
    await drained()
    expect(seen).toEqual([])
    up.open()
    await expect(third).rejects.toBeInstanceOf(Error)
    expect([(await first).outcome, (await second).outcome, (await fourth).outcome]).toEqual(['committed', 'rolled-back', 'committed'])
    expect(seen).toEqual([
      ['second', { one: 'active' }],
      ['third', { one: 'active' }],
      ['fourth', { one: 'active' }],
    ])
    expect(phases(kernel)).toEqual({ one: 'active', user: 'active' })
  })

  it('KN-30 two replacements of one row run one after the other', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const row = kernel.load(traced(log, 'old'))
    await row.ready()
    const first = row.replace(traced(log, 'slow', { up }))
    const second = row.replace(traced(log, 'last'))
    await up.reached
    await drained()
    up.open()
    await Promise.all([first, second])
    expect(log).toEqual(['old up', 'old down', 'slow up', 'slow down', 'last up'])
  })
})
