import { type Capability, capability, definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, B, C, traced } from './traced.ts'
import { unhandledDuring } from './unhandled.ts'

interface Service {
  alive: boolean
}
const TOKENS: readonly Capability<Service>[] = Array.from({ length: 6 }, (_, i) => capability<Service>(`layer-${i}`))

/** Provides a service that dies in its undo, after a number of microtasks, and checks in that undo that what it needs is alive. */
function layer(log: string[], index: number, needs: readonly number[], hops: number): Plugin<undefined> {
  return definePlugin({
    name: `layer-${index}`,
    inject: needs.flatMap((need) => TOKENS[need] ?? []),
    provides: TOKENS.slice(index, index + 1),
    activate(scope, ...services) {
      const own: Service = { alive: true }
      for (const token of TOKENS.slice(index, index + 1)) scope.provide(token, own)
      scope.defer(() => {
        own.alive = false
        log.push(`${index} closed`)
      })
      scope.defer(async () => {
        log.push(`${index} closing`)
        for (let hop = 0; hop < hops; hop++) await Promise.resolve()
        if (!own.alive || !services.every(({ alive }) => alive)) log.push(`${index} lost what it injected`)
      })
    },
  })
}

const layers = fc.tuple(
  ...TOKENS.map((_, index) => fc.record({ needs: fc.subarray(Array.from({ length: index }, (_, i) => i)), hops: fc.integer({ min: 0, max: 9 }) })),
)

describe('closing', () => {
  it('KN-15 of a chain: the undos of L finish before those of M begin, those of M before those of P', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        async ([p = 0, m = 0, l = 0], closes) => {
          await using kernel = new Kernel(quiet)
          const log: string[] = []
          const provider = kernel.load(layer(log, 0, [], p))
          kernel.load(layer(log, 2, [1], l))
          kernel.load(layer(log, 1, [0], m))
          await kernel.settled()
          await (closes ? kernel.close() : provider.unload())
          expect(log).toEqual(['2 closing', '2 closed', '1 closing', '1 closed', '0 closing', '0 closed'])
        },
      ),
      { numRuns: 50 },
    )
  })

  it('KN-15 of any graph: every dependent is closed before its provider begins, and an undo may still use what was injected', async () => {
    await fc.assert(
      fc.asyncProperty(layers, fc.integer({ min: 0, max: 5 }), async (nodes, first) => {
        await using kernel = new Kernel(quiet)
        const log: string[] = []
        nodes.forEach(({ needs, hops }, index) => {
          kernel.load(layer(log, index, needs, hops))
        })
        await kernel.settled()
        await kernel.row(`layer-${first}`)?.unload()
        await kernel.close()
        expect(log.filter((line) => line.includes('lost'))).toEqual([])
        expect(log).toHaveLength(nodes.length * 2)
        nodes.forEach(({ needs }, index) => {
          for (const need of needs) expect(log.indexOf(`${index} closed`)).toBeLessThan(log.indexOf(`${need} closing`))
        })
      }),
      { numRuns: 60 },
    )
  })

  it('KN-15 rows that do not need each other close at the same time, the last loaded first', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const downs = [new Gate(), new Gate(), new Gate()]
    downs.forEach((down, i) => {
      kernel.load(traced(log, `row-${i}`, { down }))
    })
    await kernel.settled()
    log.length = 0
    const closing = kernel.close()
    await Promise.all(downs.map(({ reached }) => reached))
    expect(log).toEqual(['row-2 down', 'row-1 down', 'row-0 down'])
    for (const gate of downs) gate.open()
    await closing
  })

  it('KN-15 a fork closes before the row that provides what it needs, and before the row it is part of', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(
      definePlugin({
        name: 'host',
        activate(scope) {
          scope.defer(() => void log.push('host down'))
          scope.inject([A], (fork) => {
            fork.defer(async () => {
              log.push('fork down')
              await down.pass()
              log.push('fork closed')
            })
          })
        },
      }),
    )
    await kernel.settled()
    const unloading = provider.unload()
    await down.reached
    await drained()
    expect(log.at(-1)).toBe('fork down')
    down.open()
    await unloading
    expect(log).toEqual(['provider up', 'fork down', 'fork closed', 'provider down'])
  })
})

describe('dependents that are leaving already', () => {
  it('KN-16 are waited for when they were unloaded before', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    const user = kernel.load(traced(log, 'user', { inject: [A], down }))
    await kernel.settled()
    void user.unload()
    await down.reached
    const unloading = provider.unload()
    await drained()
    expect(log.at(-1)).toBe('user down')
    down.open()
    await unloading
    expect(log.slice(-3)).toEqual(['user down', 'user closed', 'provider down'])
  })

  it('KN-16 are waited for when their own need of another provider was lost before', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const one = kernel.load(traced(log, 'one', { provides: [A] }))
    const two = kernel.load(traced(log, 'two', { provides: [B] }))
    kernel.load(traced(log, 'user', { inject: [A, B], down }))
    await kernel.settled()
    void one.unload()
    await down.reached
    const unloading = two.unload()
    await drained()
    expect(log.at(-1)).toBe('user down')
    down.open()
    await unloading
    await kernel.settled()
    expect(log.indexOf('user closed')).toBeLessThan(Math.min(log.indexOf('one down'), log.indexOf('two down')))
  })

  it('KN-16 are waited for while they undo an activation that failed', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(traced(log, 'user', { inject: [A], down, fails: () => true }))
    await down.reached
    const unloading = provider.unload()
    await drained()
    expect(log.at(-1)).toBe('user down')
    down.open()
    await unloading
    expect(log.slice(-2)).toEqual(['user closed', 'provider down'])
  })

  it('KN-16 are waited for when they are forks whose row goes on', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const one = kernel.load(traced(log, 'one', { provides: [A] }))
    const two = kernel.load(traced(log, 'two', { provides: [B] }))
    kernel.load(
      definePlugin({
        name: 'host',
        activate(scope) {
          scope.inject([A, B], (fork) => fork.defer(() => down.pass().then(() => void log.push('fork closed'))))
        },
      }),
    )
    await kernel.settled()
    void one.unload()
    await down.reached
    const unloading = two.unload()
    await drained()
    expect(log).toEqual(['one up', 'two up'])
    down.open()
    await unloading
    await kernel.settled()
    expect(log[2]).toBe('fork closed')
  })

  it('KN-16 a dependent two steps away holds the first provider back', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const provider = kernel.load(traced(log, 'p', { provides: [A] }))
    kernel.load(traced(log, 'm', { inject: [A], provides: [B] }))
    const leaf = kernel.load(traced(log, 'l', { inject: [B], provides: [C], down }))
    await kernel.settled()
    log.length = 0
    void leaf.unload()
    await down.reached
    const unloading = provider.unload()
    await drained()
    expect(log).toEqual(['l down'])
    down.open()
    await unloading
    expect(log).toEqual(['l down', 'l closed', 'm down', 'p down'])
  })
})

describe('closing the kernel', () => {
  it('KN-17 closes the host’s scope, then the rows, dependents first and otherwise in reverse, then what was kept', async () => {
    const kernel = new Kernel(quiet)
    const log: string[] = []
    const keeper = (name: string): Plugin<undefined> =>
      definePlugin({
        name,
        activate(scope) {
          scope.keep({ key: 'state', version: 1, create: () => name, dispose: () => void log.push(`${name} disposed of`) })
          scope.defer(() => void log.push(`${name} down`))
        },
      })
    kernel.load(keeper('keeper-1'))
    kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(keeper('keeper-2'))
    const hosted = new Gate()
    kernel.scope.defer(async () => {
      await hosted.pass()
      log.push('host closed')
    })
    await kernel.settled()
    log.length = 0
    const closing = kernel.close()
    await hosted.reached
    await drained()
    expect(log).toEqual([])
    hosted.open()
    await closing
    expect(log.slice(0, 5)).toEqual(['host closed', 'keeper-2 down', 'user down', 'keeper-1 down', 'provider down'])
    expect(log.slice(5).toSorted()).toEqual(['keeper-1 disposed of', 'keeper-2 disposed of'])
  })

  it('KN-17 a second close is the same promise, and everything is refused from then on', async () => {
    const kernel = new Kernel(quiet)
    const down = new Gate()
    const row = kernel.load(traced([], 'row', { provides: [A], down }))
    await row.ready()
    const closing = kernel.close()
    expect(kernel.close()).toBe(closing)
    expect(() => kernel.load(traced([], 'late'))).toThrow(expect.objectContaining({ code: 'KERNEL_CLOSED' }))
    await expect(kernel.transaction(() => undefined)).rejects.toMatchObject({ code: 'KERNEL_CLOSED' })
    down.open()
    await closing
    expect(kernel.close()).toBe(closing)
    await expect(row.reconfigure(undefined)).rejects.toMatchObject({ code: 'KERNEL_CLOSED' })
    expect([kernel.get(A), row.phase, kernel.scope.closed]).toEqual([undefined, 'unloaded', true])
  })

  it('KN-17 leaves no promise pending: those who wait for a row are told', async () => {
    const reasons = await unhandledDuring(async () => {
      const kernel = new Kernel(quiet)
      const up = new Gate()
      const row = kernel.load(traced([], 'slow', { up }))
      const queued = kernel.transaction((tx) => tx.load(traced([], 'other')))
      await up.reached
      const outcomes = Promise.allSettled([row.ready(), queued, kernel.settled(), row.reconfigure(undefined)])
      const closing = kernel.close()
      up.open()
      await closing
      expect((await outcomes).map(({ status }) => status)[0]).toBe('rejected')
    })
    expect(reasons).toEqual([])
  })

  it('KN-17 during an activation cancels it, waits, and never starts what comes after', async () => {
    const kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    kernel.load(traced(log, 'provider', { provides: [A], up }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await up.reached
    const closing = kernel.close()
    up.open()
    await closing
    expect(log).toEqual(['provider up', 'provider down'])
  })

  it('KN-17 right after loading never runs an `activate`', async () => {
    const log: string[] = []
    const kernel = new Kernel(quiet)
    kernel.load(traced(log, 'row'))
    await kernel.close()
    expect(log).toEqual([])
  })

  it('KN-17 no `otherwise` comes up while the scope of the host closes, though what its fork waits for fails meanwhile', async () => {
    const kernel = new Kernel(quiet)
    const log: string[] = []
    const [up, undo] = [new Gate(), new Gate()]
    kernel.scope.defer(() => undo.pass())
    const provider = definePlugin({
      name: 'provider',
      provides: [A],
      activate: () => up.pass(),
    })
    kernel.load(provider)
    const main = kernel.load(
      definePlugin({
        name: 'main',
        activate: (scope) =>
          scope.inject(
            [A],
            () => void log.push('present'),
            () => void log.push('otherwise'),
          ),
      }),
    )
    await main.ready()
    await up.reached
    const closing = kernel.close()
    await undo.reached
    up.fail(new Error('it fails'))
    await drained()
    undo.open()
    await closing
    expect(log).toEqual([])
  })
})
