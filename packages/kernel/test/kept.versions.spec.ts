import { definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { Keepsakes, keeper } from './keeper.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'

describe('another version of a kept value', () => {
  it('KN-24 without `migrate` is created, and the old one disposed of after the activation has succeeded', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const up = new Gate()
    const row = kernel.load(keeper(kept))
    await row.ready()
    const replacing = row.replace(keeper(kept, { up: { 2: up } }), { version: 2 })
    await up.reached
    await drained()
    expect(kept.disposals).toEqual([])
    up.open()
    await replacing
    await kernel.settled()
    expect(kept.log).toEqual(['create 1', 'active with 1', 'down', 'create 2', 'active with 2', 'dispose 1'])
    await row.reconfigure({ version: 2 })
    await row.unload()
    expect(kept.disposals).toEqual(['dispose 1', 'dispose 2'])
  })

  it('KN-24 with `migrate` is made from the old one, which is then dropped, not disposed of', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept))
    await row.ready()
    await row.replace(keeper(kept, { migrate: true }), { version: 2 })
    await kernel.settled()
    expect(kept.log).toEqual(['create 1', 'active with 1', 'down', 'migrate 1 from 1', 'create 2', 'active with 2'])
    expect(kept.got.at(-1)).toEqual({ id: 2, data: 'v1>v2' })
    await row.unload()
    expect(kept.disposals).toEqual(['dispose 2'])
  })

  it.each([false, true])('KN-24 whose activation fails gives the old one back untouched (migrate: %s)', async (migrate) => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept, { migrate }))
    await row.ready()
    await expect(row.reconfigure({ version: 2, fails: true })).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
    await kernel.settled()
    expect(kept.disposals).toEqual(migrate ? [] : ['dispose 2'])
    await row.reconfigure({ version: 1 })
    expect(kept.got.at(-1)).toBe(kept.made[0])
    await row.unload()
    expect(kept.disposals).toEqual(migrate ? ['dispose 1'] : ['dispose 2', 'dispose 1'])
  })

  it.each([false, true])('KN-24 whose code fails and is rolled back gives the old one to the old code (migrate: %s)', async (migrate) => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept, { migrate }))
    await row.ready()
    await expect(row.replace(keeper(kept, { migrate }), { version: 2, fails: true })).rejects.toMatchObject({ code: 'ROLLED_BACK' })
    expect([row.phase, kept.got.at(-1) === kept.made[0], kept.made.length]).toEqual(['active', true, 2])
    await kernel.settled()
    expect(kept.disposals).toEqual(migrate ? [] : ['dispose 2'])
  })

  it.each([false, true])('KN-24 of a row that succeeded in a transaction that is rolled back is the old one again (migrate: %s)', async (migrate) => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    await kernel.load(keeper(kept, { migrate })).ready()
    const report = await kernel.transaction((tx) => {
      tx.reconfigure('keeper', { version: 2 })
      tx.load(traced([], 'broken', { inject: [A], fails: () => true }))
      tx.load(traced([], 'provider', { provides: [A] }))
    })
    await kernel.settled()
    expect([report.outcome, kept.got.map(({ id }) => id)]).toEqual(['rolled-back', [1, 2, 1]])
    expect(kept.disposals).toEqual(migrate ? [] : ['dispose 2'])
    await kernel.close()
    expect(kept.disposals.toSorted()).toEqual(migrate ? ['dispose 1'] : ['dispose 1', 'dispose 2'])
  })

  it.each([false, true])('KN-24 whose activation is cancelled gives the old one back to the next (migrate: %s)', async (migrate) => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const up = new Gate()
    const row = kernel.load(keeper(kept, { migrate, up: { 2: up } }))
    await row.ready()
    void row.reconfigure({ version: 2 }).catch(() => undefined)
    await up.reached
    const back = row.reconfigure({ version: 1 })
    up.open()
    await back
    await kernel.settled()
    expect(kept.got.at(-1)).toBe(kept.made[0])
    await row.unload()
    expect(kept.disposals.toSorted()).toEqual(migrate ? ['dispose 1'] : ['dispose 1', 'dispose 2'])
  })

  it.each([false, true])('KN-24 of a row unloaded while it activates: each value is ended once (migrate: %s)', async (migrate) => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const up = new Gate()
    const row = kernel.load(keeper(kept, { migrate, up: { 2: up } }))
    await row.ready()
    void row.reconfigure({ version: 2 }).catch(() => undefined)
    await up.reached
    const unloading = row.unload()
    up.open()
    await unloading
    await kernel.close()
    expect(kept.disposals.toSorted()).toEqual(migrate ? ['dispose 1'] : ['dispose 1', 'dispose 2'])
  })

  it('KN-24 after one that failed is made from what there was, and all that was made is disposed of once', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept))
    await row.ready()
    await expect(row.reconfigure({ version: 2, fails: true })).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
    await row.reconfigure({ version: 3 })
    await kernel.settled()
    expect(kept.disposals).toEqual(['dispose 2', 'dispose 1'])
    await row.unload()
    expect(kept.disposals).toEqual(['dispose 2', 'dispose 1', 'dispose 3'])
  })

  it('KN-24 whose `migrate` throws fails the activation and leaves the old value as it was', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept))
    await row.ready()
    const broken = definePlugin({
      name: 'keeper',
      activate(scope) {
        scope.keep({
          key: 'state',
          version: 2,
          create: () => kept.make('never'),
          dispose: () => undefined,
          migrate: () => {
            throw new Error('cannot migrate')
          },
        })
      },
    })
    await expect(row.replace(broken)).rejects.toMatchObject({ code: 'ROLLED_BACK', cause: { message: expect.stringContaining('cannot migrate') } })
    expect([kept.got.at(-1), kept.made.length, kept.disposals]).toEqual([kept.made[0], 1, []])
  })

  it('KN-24 a dispose runs the code that made the value', async () => {
    await using kernel = new Kernel(quiet)
    const disposed: string[] = []
    const plugin = (name: string, code: string, version: number) =>
      definePlugin({
        name,
        activate: (scope) =>
          void scope.keep({ key: 'k', version, create: () => code, dispose: (value) => void disposed.push(`${value} by ${code}`) }),
      })
    const row = kernel.load(plugin('keeper', 'old code', 1))
    await row.ready()
    await row.replace(plugin('keeper', 'new code', 2))
    await kernel.settled()
    expect(disposed).toEqual(['old code by old code'])
  })
})

describe('a plugin of another name', () => {
  it('KN-24 that takes over the row starts without what the old one kept, which is disposed of', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept))
    await row.ready()
    await row.replace(keeper(kept, { name: 'stranger' }))
    await kernel.settled()
    expect([row.id, row.name, row.phase, kept.got.map(({ id }) => id)]).toEqual(['keeper', 'stranger', 'active', [1, 2]])
    expect(kept.disposals).toEqual(['dispose 1'])
  })

  it('KN-24 that fails to take over gives the old one back with what it kept', async () => {
    await using kernel = new Kernel(quiet)
    const kept = new Keepsakes()
    const row = kernel.load(keeper(kept))
    await row.ready()
    await expect(row.replace(keeper(kept, { name: 'stranger' }), { fails: true })).rejects.toMatchObject({ code: 'ROLLED_BACK' })
    await kernel.settled()
    expect([row.name, row.phase, kept.got.map(({ id }) => id), kept.disposals]).toEqual(['keeper', 'active', [1, 2, 1], ['dispose 2']])
  })
})
