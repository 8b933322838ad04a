import { definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { Keepsakes, keeper } from './keeper.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'

describe('a kept value', () => {
  it('KN-23 survives reconfigure, replace of code and flaps of a provider, and is disposed of on unload, once', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    const row = kernel.load(keeper(kept, { needsA: true }))
    await row.ready()
    await row.reconfigure({ version: 1, fails: false })
    await row.replace(keeper(kept, { needsA: true }), { version: 1 })
    await provider.replace(traced([], 'provider', { provides: [A] }))
    await provider.unload()
    kernel.load(traced([], 'provider', { provides: [A] }))
    await row.ready()
    await kernel.settled()
    expect(new Set(kept.got)).toEqual(new Set([kept.made[0]]))
    expect([kept.made.length, kept.disposals, kernel.inspect().rows.find(({ id }) => id === 'keeper')?.kept]).toEqual([1, [], ['state']])
    await row.unload()
    expect(kept.disposals).toEqual(['dispose 1'])
    await kernel.close()
    expect(kept.disposals).toEqual(['dispose 1'])
  })

  it('KN-23 is disposed of when the kernel closes, once, after the last scope of its row', async () => {
    const kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    await kernel.load(keeper(kept)).ready()
    await kernel.close()
    await kernel.close()
    expect(kept.log).toEqual(['create 1', 'active with 1', 'down', 'dispose 1'])
  })

  it('KN-23 `unload` resolves after a slow disposal', async () => {
    await using kernel = new Kernel(quiet)
    const gate = new Gate()
    const row = kernel.load(
      definePlugin({ name: 'slow', activate: (scope) => scope.keep({ key: 'k', version: 1, create: () => undefined, dispose: () => gate.pass() }) }),
    )
    await row.ready()
    let unloaded = false
    const unloading = row.unload().then(() => {
      unloaded = true
    })
    await gate.reached
    await drained()
    expect(unloaded).toBe(false)
    gate.open()
    await unloading
  })

  it('KN-23 is the same within one activation, its forks included, and each key has its own', async () => {
    await using kernel = new Kernel(quiet)
    const values: object[] = []
    const disposed: string[] = []
    const spec = (key: string) => ({ key, version: 1, create: () => ({}), dispose: () => void disposed.push(key) })
    const row = kernel.load(
      definePlugin({
        name: 'keeper',
        activate(scope) {
          values.push(scope.keep(spec('one')), scope.keep(spec('one')), scope.keep(spec('two')))
          scope.inject([], (fork) => void values.push(fork.keep(spec('one'))))
        },
      }),
    )
    await kernel.settled()
    const [first, second, other, forked] = values
    expect([second === first, forked === first, other === first]).toEqual([true, true, false])
    await row.unload()
    expect(disposed.toSorted()).toEqual(['one', 'two'])
  })

  it('KN-23 of one row is not that of another row of the same plugin', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const plugin = keeper(kept)
    await kernel.load(plugin, undefined, { id: 'one' }).ready()
    await kernel.load(plugin, undefined, { id: 'two' }).ready()
    expect(kept.made).toHaveLength(2)
  })

  it('KN-23 whose disposal throws or hangs is reported and stops no other', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { undoMs: 20 } })
    const faults: unknown[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'fault') faults.push(event)
    })
    const disposed: string[] = []
    const row = kernel.load(
      definePlugin({
        name: 'keeper',
        activate(scope) {
          scope.keep({ key: 'good', version: 1, create: () => 1, dispose: () => void disposed.push('good') })
          scope.keep({ key: 'hangs', version: 1, create: () => 2, dispose: () => new Promise(() => undefined) })
          scope.keep({
            key: 'throws',
            version: 1,
            create: () => 3,
            dispose: () => {
              throw new Error('cannot dispose')
            },
          })
          scope.keep({ key: 'good-too', version: 1, create: () => 4, dispose: () => void disposed.push('good-too') })
        },
      }),
    )
    await row.ready()
    await row.unload()
    expect(disposed.toSorted()).toEqual(['good', 'good-too'])
    expect(faults).toHaveLength(2)
    expect(faults).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ row: 'keeper', error: expect.objectContaining({ code: 'CLEANUP_TIMEOUT' }) }),
        expect.objectContaining({ row: 'keeper', error: expect.objectContaining({ message: expect.stringContaining('cannot dispose') }) }),
      ]),
    )
  })

  it('KN-23 of an unloaded row is disposed of before a new row of its id activates', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept))
    await row.ready()
    void row.unload()
    await kernel.load(keeper(kept)).ready()
    expect(kept.log).toEqual(['create 1', 'active with 1', 'down', 'dispose 1', 'create 2', 'active with 2'])
  })

  it('KN-23 of a failed or waiting row is disposed of with the row', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    const row = kernel.load(keeper(kept, { needsA: true }))
    await row.ready()
    await provider.unload()
    await kernel.settled()
    expect([row.phase, kept.disposals]).toEqual(['waiting', []])
    await row.unload()
    expect(kept.disposals).toEqual(['dispose 1'])
  })

  it('KN-23 every value ever created is disposed of exactly once, also when first activations fail or are cancelled', async () => {
    const kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const up = new Gate()
    await expect(kernel.load(keeper(kept), { fails: true }).ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
    await kernel.row('keeper')?.reconfigure({ fails: false })
    const cancelled = kernel.load(keeper(kept, { up: { 1: up } }), undefined, { id: 'cancelled' })
    await up.reached
    const unloading = cancelled.unload()
    up.open()
    await unloading
    await kernel.close()
    expect(kept.disposals.toSorted()).toEqual(kept.made.map(({ id }) => `dispose ${id}`))
  })

  it('KN-23 whose `create` throws fails the activation and leaves nothing behind', async () => {
    await using kernel = new Kernel(quiet)
    let disposed = 0
    const row = kernel.load(
      definePlugin({
        name: 'keeper',
        config: z.boolean(),
        activate(scope) {
          const broken = scope.config
          scope.keep({
            key: 'k',
            version: 1,
            create: () => {
              if (broken) throw new Error('cannot create')
              return 1
            },
            dispose: () => void disposed++,
          })
        },
      }),
      true,
    )
    await expect(row.ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED', message: expect.stringContaining('cannot create') })
    await row.reconfigure(false)
    await row.unload()
    expect(disposed).toBe(1)
  })

  it('KN-23 is not touched by a transaction that is rolled back, whether it unloads, replaces or reconfigures the row', async () => {
    const edits = ['unload', 'replace', 'reconfigure'] as const
    for (const edit of edits) {
      await using kernel = new Kernel(quiet)
      const kept = new Keepsakes()
      await kernel.load(keeper(kept)).ready()
      const report = await kernel.transaction((tx) => {
        if (edit === 'unload') tx.unload('keeper')
        if (edit === 'replace') tx.replace('keeper', keeper(kept, { name: 'stranger' }))
        if (edit === 'reconfigure') tx.reconfigure('keeper', { version: 2 })
        tx.load(traced([], 'broken', { fails: () => true }))
      })
      expect(report.outcome).toBe('rolled-back')
      expect([edit, kernel.row('keeper')?.phase, kept.got.at(-1)?.id, kept.disposals.includes('dispose 1')]).toEqual([edit, 'active', 1, false])
      await kernel.close()
      expect(kept.disposals.toSorted()).toEqual(kept.made.map(({ id }) => `dispose ${id}`))
    }
  })

  it('KN-23 of a row unloaded in a transaction is disposed of once that has been committed', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    await kernel.load(keeper(kept)).ready()
    const up = new Gate()
    const committing = kernel.transaction((tx) => {
      tx.unload('keeper')
      tx.load(traced([], 'slow', { up }))
    })
    await up.reached
    await drained()
    expect(kept.disposals).toEqual([])
    up.open()
    expect((await committing).outcome).toBe('committed')
    await kernel.settled()
    expect(kept.disposals).toEqual(['dispose 1'])
  })
})
