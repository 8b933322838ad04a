import { definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { forked } from './forked.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, C, D, traced } from './traced.ts'

const only = (log: string[], name: string): string[] => log.filter((line) => line.startsWith(name))

describe('before `otherwise`', () => {
  it('KN-20 a provider loaded in the same tick, before or after, is seen: `otherwise` never runs', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'early', { needs: [A] }))
    kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(forked(log, 'late', { needs: [A] }))
    await kernel.settled()
    expect(log).toEqual(['provider up', 'early + provider#1', 'late + provider#1'])
  })

  it('KN-20 a provider that takes its time is waited for', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(traced(log, 'provider', { provides: [A], up }))
    await up.reached
    await drained()
    expect([only(log, 'fork'), phases(kernel).fork]).toEqual([[], 'active'])
    up.open()
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + provider#1'])
  })

  it('KN-20 so is one whose own need is still coming up', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(traced(log, 'provider', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'base', { provides: [B], up }))
    await up.reached
    await drained()
    expect(only(log, 'fork')).toEqual([])
    up.open()
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + provider#1'])
  })

  it('KN-20 a provider that fails, or whose need nobody brings, lets `otherwise` run', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'failed', { needs: [A] }))
    kernel.load(forked(log, 'unmet', { needs: [B] }))
    kernel.load(traced([], 'provider-a', { provides: [A], up, fails: () => true }))
    kernel.load(traced([], 'provider-b', { inject: [C], provides: [B] }))
    await up.reached
    await drained()
    expect(log).toEqual(['unmet + otherwise'])
    up.open()
    await kernel.settled()
    expect(log).toEqual(['unmet + otherwise', 'failed + otherwise'])
  })

  it('KN-20 a hung unrelated row delays neither `present` nor `otherwise`', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const hung = new Gate()
    kernel.load(traced(log, 'hung', { provides: [D], up: hung }))
    kernel.load(forked(log, 'with', { needs: [A] }))
    kernel.load(forked(log, 'without', { needs: [B] }))
    kernel.load(traced(log, 'provider', { provides: [A] }))
    await hung.reached
    await drained()
    expect(log.toSorted()).toEqual(['hung up', 'provider up', 'with + provider#1', 'without + otherwise'])
    hung.open()
    await kernel.settled()
  })

  it('KN-20 one of two needs is hopeless: `otherwise` does not wait for the other', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A, B] }))
    kernel.load(traced(log, 'provider', { provides: [A], up }))
    await up.reached
    await drained()
    expect(only(log, 'fork')).toEqual(['fork + otherwise'])
    up.open()
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + otherwise'])
  })

  it('KN-20 a provider that is restarted for a reason of its own need is waited for', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(traced([], 'provider', { inject: [B], provides: [A] }))
    const base = kernel.load(traced([], 'base', { provides: [B] }))
    await kernel.settled()
    const replacing = base.replace(traced([], 'base', { provides: [B], up }))
    await up.reached
    await drained()
    expect(log).toEqual(['fork + provider#1', 'fork -'])
    up.open()
    await replacing
    await kernel.settled()
    expect(log).toEqual(['fork + provider#1', 'fork -', 'fork + provider#2'])
  })

  it('KN-20 a swap of providers in one transaction never shows `otherwise`', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(traced([], 'old', { provides: [A] }))
    await kernel.settled()
    const swap = kernel.transaction((tx) => {
      tx.unload('old')
      tx.load(traced([], 'new', { provides: [A], up }))
    })
    await up.reached
    await drained()
    up.open()
    await swap
    await kernel.settled()
    expect(log).toEqual(['fork + old#1', 'fork -', 'fork + new#1'])
  })

  it('KN-20 a rival that waits for the taken slot takes over without `otherwise` in between', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    const holder = kernel.load(traced([], 'holder', { provides: [A] }))
    kernel.load(traced([], 'rival', { provides: [A], up }))
    await kernel.settled()
    const unloading = holder.unload()
    await up.reached
    await drained()
    up.open()
    await unloading
    await kernel.settled()
    expect(log).toEqual(['fork + holder#1', 'fork -', 'fork + rival#1'])
  })

  it.each(['unloaded', 'replaced'])('KN-20 a row that might have brought it is %s before it ever ran: nothing is left to wait for', async (how) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(traced([], 'slow', { provides: [A], up }))
    const rival = kernel.load(traced([], 'rival', { provides: [A, B] }))
    kernel.load(forked(log, 'fork', { needs: [B] }))
    await up.reached
    await drained()
    expect(log).toEqual([])
    const leaving = how === 'unloaded' ? rival.unload() : rival.replace(traced([], 'rival', { provides: [A] }))
    await drained()
    up.open()
    await leaving
    await kernel.settled()
    expect(log).toEqual(['fork + otherwise'])
  })

  it('KN-20 rows that wait for each other through forks are hopeless, not a reason to wait for ever', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(definePlugin({ name: 'bridge', provides: [A], activate: (scope) => scope.inject([B], (fork, b) => fork.provide(A, `bridged ${b}`)) }))
    kernel.load(traced([], 'circle', { inject: [A], provides: [B] }))
    await kernel.settled()
    expect([log, phases(kernel)]).toEqual([['fork + otherwise'], { fork: 'active', bridge: 'active', circle: 'waiting' }])
    expect(kernel.inspect().settled).toBe(true)
  })
})

describe('a fork that provides', () => {
  const bridge = (log: string[], gate?: Gate): ReturnType<typeof definePlugin> =>
    definePlugin({
      name: 'bridge',
      provides: [A],
      activate(scope) {
        scope.inject([B], async (fork, b) => {
          fork.defer(() => void log.push('fork down'))
          fork.provide(A, `over ${b}`)
          await gate?.pass()
        })
      },
    })

  it('KN-21 offers while it lives: what it offers goes with it, dependents first', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    kernel.load(bridge(log))
    kernel.load(traced(log, 'user', { inject: [A], down }))
    await kernel.settled()
    expect([kernel.get(A), log]).toEqual([undefined, []])
    const base = kernel.load(traced(log, 'base', { provides: [B] }))
    await kernel.settled()
    expect([kernel.get(A), kernel.inspect().provisions]).toEqual(['over base#1', expect.objectContaining({ a: 'bridge', b: 'base' })])
    expect(kernel.inspect().rows[0]).toMatchObject({ offers: ['a'], forks: [{ offers: ['a'] }] })
    const unloading = base.unload()
    await down.reached
    await drained()
    expect(log).toEqual(['base up', 'user up over base#1', 'user down'])
    down.open()
    await unloading
    await kernel.settled()
    expect(log).toEqual(['base up', 'user up over base#1', 'user down', 'user closed', 'fork down', 'base down'])
    expect([kernel.get(A), phases(kernel)]).toEqual([undefined, { bridge: 'active', user: 'waiting' }])
  })

  it('KN-21 offers only when its body has succeeded', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gate = new Gate()
    kernel.load(bridge(log, gate))
    kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(traced([], 'base', { provides: [B] }))
    await gate.reached
    await drained()
    expect([kernel.get(A), log]).toEqual([undefined, []])
    gate.fail(new Error('broken bridge'))
    await kernel.settled()
    expect([kernel.get(A), log, phases(kernel)]).toEqual([undefined, ['fork down'], { bridge: 'active', user: 'waiting', base: 'active' }])
  })

  it('KN-21 is waited for by an `otherwise` while what it needs is coming up', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(bridge([]))
    kernel.load(traced([], 'base', { provides: [B], up }))
    await up.reached
    await drained()
    expect(log).toEqual([])
    up.open()
    await kernel.settled()
    expect(log).toEqual(['fork + over base#1'])
  })

  it('KN-21 replaces what it offered when its need is replaced', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(bridge([]))
    const base = kernel.load(traced([], 'base', { provides: [B] }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    await base.replace(traced([], 'new', { provides: [B] }))
    await kernel.settled()
    expect(log).toEqual(['user up over base#1', 'user down', 'user up over new#1'])
  })

  it('KN-21 may be asked for by a fork of the same row', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(
      definePlugin({
        name: 'own',
        provides: [A],
        activate(scope) {
          scope.provide(A, 'own value')
          scope.inject(
            [A],
            (fork, a) => {
              log.push(`present ${a}`)
              fork.defer(() => void log.push('fork down'))
            },
            () => void log.push('otherwise'),
          )
        },
      }),
    )
    await kernel.settled()
    expect(log).toEqual(['present own value'])
    await row.unload()
    await kernel.settled()
    expect(log).toEqual(['present own value', 'fork down'])
  })
})

describe('a fork with `otherwise` in a row that provides', () => {
  /** Offers A in the branches that are given; the others run, and bring nothing. */
  const offering = (...branches: readonly ('present' | 'otherwise')[]) =>
    definePlugin({
      name: 'offering',
      provides: [A],
      activate: (scope) =>
        scope.inject(
          [B],
          (fork) => {
            if (branches.includes('present')) fork.provide(A, 'a with b')
          },
          (fork) => {
            if (branches.includes('otherwise')) fork.provide(A, 'a without b')
          },
        ),
    })

  it.each(['before', 'after'])('KN-20 is waited for by the `otherwise` of a row loaded %s it', async (place) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    if (place === 'after') kernel.load(offering('otherwise'))
    kernel.load(forked(log, 'fork', { needs: [A] }))
    if (place === 'before') kernel.load(offering('otherwise'))
    await kernel.settled()
    expect(log).toEqual(['fork + a without b'])
  })

  it('KN-20 that brings nothing is not waited for once it is up', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A] }))
    const user = kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(offering('present'))
    await expect(user.ready()).rejects.toMatchObject({ code: 'PLUGIN_UNRESOLVED' })
    expect(log).toEqual(['fork + otherwise'])
  })

  it('KN-20 is waited for while it has `otherwise`, and `present` is coming', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(offering('present'))
    await kernel.settled()
    kernel.load(forked(log, 'fork', { needs: [A] }))
    const user = kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(traced([], 'base', { provides: [B], up }))
    const ready = user.ready()
    await up.reached
    await drained()
    expect(log).toEqual([])
    up.open()
    await ready
    await kernel.settled()
    expect(log).toEqual(['fork + a with b', 'user up a with b'])
  })

  it('KN-20 is waited for after its `otherwise` has failed, but only while `present` is coming', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const offer = (fork: { provide(token: typeof A, value: string): void }) => fork.provide(A, 'a with b')
    const fail = (): never => {
      throw new Error('no otherwise')
    }
    kernel.load(definePlugin({ name: 'failing', provides: [A], activate: (scope) => scope.inject([B], offer, fail) }))
    kernel.load(forked(log, 'fork', { needs: [A] }))
    const user = kernel.load(traced([], 'user', { inject: [A] }))
    await expect(user.ready()).rejects.toMatchObject({ code: 'PLUGIN_UNRESOLVED' })
    expect(log).toEqual(['fork + otherwise'])
    log.length = 0
    kernel.load(forked(log, 'late', { needs: [A] }))
    kernel.load(traced([], 'base', { provides: [B], up }))
    await up.reached
    await drained()
    expect(log).toEqual([])
    up.open()
    await kernel.settled()
    expect(log).toEqual(['fork - otherwise', 'fork + a with b', 'late + a with b'])
  })
})
