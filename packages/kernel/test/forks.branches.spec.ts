import { definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { forked } from './forked.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'

const only = (log: string[], name: string): string[] => log.filter((line) => line.startsWith(name))

describe('present and otherwise', () => {
  it('KN-19 flip with the provider, and the row around them stays as it is', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A] }))
    await kernel.settled()
    for (let i = 0; i < 2; i++) {
      const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
      await kernel.settled()
      await provider.unload()
      await kernel.settled()
    }
    expect(only(log, 'fork')).toEqual([
      ...['fork + otherwise', 'fork - otherwise', 'fork + provider#1', 'fork -'],
      ...['fork + otherwise', 'fork - otherwise', 'fork + provider#1', 'fork -', 'fork + otherwise'],
    ])
    expect(kernel.inspect().rows[0]).toMatchObject({
      generation: 1,
      phase: 'active',
      forks: [{ branch: 'otherwise', phase: 'active', needs: ['a'] }],
    })
  })

  it('KN-19 are never both alive: one begins after the slow undo of the other', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A], down }))
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    await kernel.settled()
    void provider.unload()
    await down.reached
    await drained()
    expect(only(log, 'fork')).toEqual(['fork + provider#1'])
    down.open()
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + provider#1', 'fork -', 'fork + otherwise'])
    expect(log).not.toContain('fork both')
  })

  it('KN-19 a provider that is reloaded re-runs `present` with the new value, and `otherwise` never runs meanwhile', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A] }))
    const up = new Gate()
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    await kernel.settled()
    const replacing = provider.replace(traced(log, 'slow', { provides: [A], up }))
    await up.reached
    await drained()
    expect(only(log, 'fork')).toEqual(['fork + provider#1', 'fork -'])
    up.open()
    await replacing
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + provider#1', 'fork -', 'fork + slow#1'])
  })

  it('KN-19 a fork of several capabilities is present only with all of them', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A, B] }))
    const a = kernel.load(traced(log, 'a', { provides: [A] }))
    await kernel.settled()
    kernel.load(traced(log, 'b', { provides: [B] }))
    await kernel.settled()
    await a.unload()
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + otherwise', 'fork - otherwise', 'fork + a#1 b#1', 'fork -', 'fork + otherwise'])
  })

  it('KN-19 a fork without `otherwise` is just absent', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A], withOtherwise: false }))
    await kernel.settled()
    expect([log, kernel.inspect().rows[0]?.forks]).toEqual([[], [expect.objectContaining({ branch: 'none' })]])
  })

  it('KN-19 forks nest: the inner one lives within the outer, closes before it, and follows its own needs', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(
      definePlugin({
        name: 'host',
        activate(scope) {
          scope.inject([A], (outer, a) => {
            log.push(`outer + ${a}`)
            outer.defer(() => void log.push('outer -'))
            outer.inject(
              [B],
              (inner, b) => {
                log.push(`inner + ${b}`)
                inner.defer(() => void log.push('inner -'))
              },
              (inner) => {
                log.push('inner + otherwise')
                inner.defer(() => void log.push('inner - otherwise'))
              },
            )
          })
        },
      }),
    )
    const a = kernel.load(traced([], 'a', { provides: [A] }))
    await kernel.settled()
    expect(log.splice(0)).toEqual(['outer + a#1', 'inner + otherwise'])
    const b = kernel.load(traced([], 'b', { provides: [B] }))
    await kernel.settled()
    expect(log.splice(0)).toEqual(['inner - otherwise', 'inner + b#1'])
    expect(kernel.inspect().rows[0]?.forks).toMatchObject([{ branch: 'present', forks: [{ branch: 'present', needs: ['b'] }] }])
    await a.unload()
    await kernel.settled()
    expect(log.splice(0)).toEqual(['inner -', 'outer -'])
    await b.unload()
    kernel.load(traced([], 'a', { provides: [A] }))
    await kernel.settled()
    expect(log.splice(0)).toEqual(['outer + a#1', 'inner + otherwise'])
  })

  it('KN-19 the body of a fork runs after the activation has succeeded, in the order of the forks', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gate = new Gate()
    kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(
      definePlugin({
        name: 'host',
        async activate(scope) {
          scope.inject([A], () => void log.push('fork 1'))
          scope.inject([A], () => void log.push('fork 2'))
          await gate.pass()
          log.push('activated')
        },
      }),
    )
    await gate.reached
    await drained()
    gate.open()
    await kernel.settled()
    expect(log).toEqual(['provider up', 'activated', 'fork 1', 'fork 2'])
  })

  it('KN-19 a fork may be added by a row that is already active, and an empty list of needs is always present', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    let add: (() => void) | undefined
    kernel.load(
      definePlugin({
        name: 'host',
        activate(scope) {
          add = () =>
            scope.inject([], (fork) => {
              log.push('late fork')
              fork.defer(() => void log.push('late fork undone'))
            })
        },
      }),
    )
    await kernel.settled()
    add?.()
    await kernel.settled()
    expect(log).toEqual(['late fork'])
    await kernel.close()
    expect(log).toEqual(['late fork', 'late fork undone'])
  })

  it('KN-19 what both row and fork need: losing it closes the row with its fork, once each', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(
      definePlugin({
        name: 'host',
        inject: [A],
        activate(scope) {
          scope.defer(() => void log.push('host down'))
          scope.inject(
            [A],
            (fork) => fork.defer(() => void log.push('fork down')),
            () => void log.push('otherwise'),
          )
        },
      }),
    )
    await kernel.settled()
    await provider.unload()
    await kernel.settled()
    expect(log).toEqual(['provider up', 'fork down', 'host down', 'provider down'])
  })
})

describe('a fork body that fails', () => {
  it('KN-19 leaves its row and the other forks active, is undone and reported, and runs again when its needs change', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A], fails: (run) => run === 1 }))
    kernel.load(forked(log, 'other', { needs: [A] }))
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    expect(phases(kernel)).toMatchObject({ fork: 'active', other: 'active' })
    expect(kernel.inspect().rows[0]).toMatchObject({
      forks: [{ branch: 'present', phase: 'failed', error: expect.stringContaining('fork fails on run 1') }],
      faults: [{ what: expect.stringContaining('fork'), message: expect.stringContaining('fork fails on run 1') }],
    })
    expect(only(log, 'fork')).toEqual(['fork + provider#1', 'fork -'])
    await provider.replace(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    expect(only(log, 'fork')).toEqual(['fork + provider#1', 'fork -', 'fork + provider#1'])
    expect(kernel.inspect().rows[0]?.forks).toMatchObject([{ branch: 'present', phase: 'active' }])
  })

  it('KN-19 that failed gives way to `otherwise` when its need goes away', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(forked(log, 'fork', { needs: [A], fails: () => true }))
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    expect(log.splice(0)).toEqual(['fork + provider#1', 'fork -'])
    await provider.unload()
    await kernel.settled()
    expect(log).toEqual(['fork + otherwise'])
  })

  it('KN-19 whose `otherwise` brings what it needs by way of another row comes to rest', async () => {
    await using kernel = new Kernel(quiet)
    let runs = 0
    const run = (): void => {
      if (++runs > 1000) throw new Error('it never comes to rest')
    }
    kernel.load(
      definePlugin({
        name: 'fallback',
        provides: [A],
        activate: (scope) =>
          scope.inject([B], run, (fork) => {
            run()
            fork.provide(A, 'fallback')
          }),
      }),
    )
    const user = kernel.load(traced([], 'user', { inject: [A], provides: [B] }))
    await kernel.settled()
    expect(runs).toBeLessThan(200)
    expect([phases(kernel).fallback, kernel.inspect().settled, user.phase === 'active' || user.phase === 'waiting']).toEqual(['active', true, true])
  })

  it('KN-19 loses its need while it runs: it is cancelled and undone, and `otherwise` follows', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(forked(log, 'fork', { needs: [A], up }))
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    await up.reached
    const unloading = provider.unload()
    await drained()
    expect(log).toEqual(['provider up', 'fork + provider#1'])
    up.open()
    await unloading
    await kernel.settled()
    expect(log).toEqual(['provider up', 'fork + provider#1', 'fork -', 'provider down', 'fork + otherwise'])
  })
})

describe('leaving', () => {
  it('KN-22 a plugin with a live fork runs the undos of the fork, then its own, never `otherwise`', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(forked(log, 'fork', { needs: [A] }))
    kernel.load(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    await row.unload()
    await kernel.settled()
    expect(log).toEqual(['fork + provider#1', 'fork -', 'fork down'])
  })

  it.each(['the plugin first', 'the provider first'])('KN-22 with its provider in the same tick, %s, never runs `otherwise`', async (order) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const row = kernel.load(forked(log, 'fork', { needs: [A] }))
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    await kernel.settled()
    const leaving = order === 'the plugin first' ? [row, provider] : [provider, row]
    await Promise.all(leaving.map((one) => one.unload()))
    await kernel.settled()
    expect(log.slice(0, 3)).toEqual(['provider up', 'fork + provider#1', 'fork -'])
    expect(log.slice(3).toSorted()).toEqual(['fork down', 'provider down'])
  })

  it('KN-22 while a fork body runs cancels it and waits for it', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const row = kernel.load(forked(log, 'fork', { needs: [A], up }))
    kernel.load(traced([], 'provider', { provides: [A] }))
    await up.reached
    const unloading = row.unload()
    await drained()
    expect(log).toEqual(['fork + provider#1'])
    up.open()
    await unloading
    expect(log).toEqual(['fork + provider#1', 'fork -', 'fork down'])
  })

  it('KN-22 a fork that closes its own scope is dropped for good; its row stays', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    let leave: (() => Promise<void>) | undefined
    kernel.load(
      definePlugin({
        name: 'host',
        activate(scope) {
          scope.defer(() => void log.push('host down'))
          scope.inject(
            [A],
            (fork) => {
              log.push('present')
              fork.defer(() => void log.push('fork down'))
              leave = () => fork.close()
            },
            () => void log.push('otherwise'),
          )
        },
      }),
    )
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    await leave?.()
    await provider.replace(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    expect([log, phases(kernel)]).toEqual([['present', 'fork down'], { host: 'active', provider: 'active' }])
  })

  it('KN-22 B164 a plugin that closes its own scope is unloaded; one that closes a child of it stays', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const acts: Record<string, () => Promise<void>> = {}
    const row = kernel.load(
      definePlugin({
        name: 'host',
        config: z.strictObject({}).prefault({}),
        activate(scope) {
          const child = scope.child('child')
          child.defer(() => void log.push('child down'))
          scope.defer(() => void log.push('host down'))
          acts.child = () => child.close()
          acts.own = () => scope.close()
        },
      }),
    )
    await kernel.settled()
    await acts.child?.()
    expect([row.phase, log]).toEqual(['active', ['child down']])
    await acts.own?.()
    await kernel.settled()
    expect([row.phase, kernel.row('host'), log]).toEqual(['unloaded', undefined, ['child down', 'host down']])
  })
})
