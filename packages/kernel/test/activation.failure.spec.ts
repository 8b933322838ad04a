import { definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'
import { unhandledDuring } from './unhandled.ts'

describe('a row whose `activate` throws', () => {
  it('KN-10 is failed, its effects are undone in reverse, its siblings stay active', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'sibling'))
    const row = kernel.load(
      definePlugin({
        name: 'broken',
        async activate(scope) {
          for (const name of ['first', 'second']) scope.defer(() => void log.push(name))
          scope.child('child').defer(() => void log.push('child'))
          throw new Error('no such shell')
        },
      }),
    )
    await kernel.settled()
    expect(log).toEqual(['sibling up', 'child', 'second', 'first'])
    expect(phases(kernel)).toEqual({ sibling: 'active', broken: 'failed' })
    await expect(row.ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED', message: expect.stringContaining('broken') })
    expect(kernel.inspect().rows[1]?.error).toMatchObject({ code: 'ACTIVATION_FAILED', message: expect.stringContaining('no such shell') })
  })

  it('KN-10 keeps what was thrown as the cause, as an error even if it was none', async () => {
    await using kernel = new Kernel(quiet)
    const thrown = new Error('original')
    const row = kernel.load(
      definePlugin({
        name: 'broken',
        activate() {
          throw thrown
        },
      }),
    )
    const odd = kernel.load(
      definePlugin({
        name: 'odd',
        activate() {
          throw 'a string'
        },
      }),
    )
    await expect(row.ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED', cause: thrown })
    await expect(odd.ready()).rejects.toBeInstanceOf(Error)
    await expect(odd.ready()).rejects.toMatchObject({ message: expect.stringContaining('a string') })
  })

  it('KN-10 shows no unhandled rejection when nobody asked for `ready`', async () => {
    const reasons = await unhandledDuring(async () => {
      await using kernel = new Kernel(quiet)
      kernel.load(traced([], 'broken', { fails: () => true }))
      kernel.load(traced([], 'user', { inject: [A] }))
      await kernel.settled()
    })
    expect(reasons).toEqual([])
  })

  it('KN-10 leaves those who need it waiting, and they come up with it', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const user = kernel.load(traced(log, 'user', { inject: [A] }))
    const row = kernel.load(traced(log, 'provider', { provides: [A], fails: (run) => run === 1 }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ user: 'waiting', provider: 'failed' })
    await expect(user.ready()).rejects.toMatchObject({ code: 'PLUGIN_UNRESOLVED' })
    await row.reconfigure(undefined)
    await user.ready()
    expect(log).toEqual(['provider up', 'provider down', 'provider up', 'user up provider#2'])
  })

  it('KN-10 is tried again when a provision it needs changes, and not when anything else does', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(traced(log, 'broken', { inject: [A], fails: (run) => run < 3 }))
    await kernel.settled()
    kernel.load(traced(log, 'stranger', { provides: [B] }))
    await kernel.settled()
    expect(log.filter((line) => line.startsWith('broken up'))).toEqual(['broken up provider#1'])
    await provider.replace(traced(log, 'provider', { provides: [A] }))
    await kernel.settled()
    expect(phases(kernel).broken).toBe('failed')
    await provider.unload()
    await kernel.settled()
    expect(phases(kernel).broken).toBe('waiting')
    kernel.load(traced(log, 'provider', { provides: [A] }))
    await kernel.settled()
    expect(phases(kernel).broken).toBe('active')
    expect(log.filter((line) => line.startsWith('broken up'))).toHaveLength(3)
  })

  it('KN-10 is tried again with another config, with other code, and on request', async () => {
    await using kernel = new Kernel(quiet)
    const plugin = (fails: (n: number) => boolean) =>
      definePlugin({
        name: 'broken',
        config: z.strictObject({ n: z.int() }),
        activate(scope) {
          if (fails(scope.config.n)) throw new Error(`not with ${scope.config.n}`)
        },
      })
    const row = kernel.load(
      plugin((n) => n < 2),
      { n: 0 },
    )
    await expect(row.ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
    await expect(row.reconfigure({ n: 1 })).rejects.toMatchObject({ code: 'ACTIVATION_FAILED', message: expect.stringContaining('not with 1') })
    await row.reconfigure({ n: 2 })
    expect(row.phase).toBe('active')
    await expect(row.reconfigure({ n: 1 })).rejects.toMatchObject({ code: 'ACTIVATION_FAILED' })
    expect(row.phase).toBe('failed')
    await row.replace(
      plugin(() => false),
      { n: 1 },
    )
    expect(row.phase).toBe('active')
  })

  it('KN-10 whose undos of the failed try are slow is tried again only after they have ended', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const row = kernel.load(traced(log, 'broken', { down, fails: (run) => run === 1 }))
    await down.reached
    const again = row.reconfigure(undefined)
    await drained()
    expect(log).toEqual(['broken up', 'broken down'])
    down.open()
    await again
    expect(log).toEqual(['broken up', 'broken down', 'broken closed', 'broken up'])
  })

  it('KN-10 can be unloaded, and its id used again', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(traced(log, 'broken', { fails: () => true }))
    await kernel.settled()
    await row.unload()
    expect([row.phase, kernel.row('broken')]).toEqual(['unloaded', undefined])
    await kernel.load(traced(log, 'broken')).ready()
  })

  it('KN-10 stays failed with the error of its last try when the provider it needs goes and nothing else changes', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'broken', { fails: () => true }))
    const other = kernel.load(traced(log, 'other'))
    await kernel.settled()
    await other.unload()
    await kernel.settled()
    expect(log.filter((line) => line === 'broken up')).toHaveLength(1)
  })
})
