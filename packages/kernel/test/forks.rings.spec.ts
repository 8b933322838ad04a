import { type Capability, definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { quiet } from './quiet.ts'
import { A, B, C, traced } from './traced.ts'

/** Offers `brings` exactly while `lacks` is not there. */
const contrary = (name: string, lacks: Capability<string>, brings: Capability<string>) =>
  definePlugin({
    name,
    provides: [brings],
    activate(scope) {
      scope.inject(
        [lacks],
        () => undefined,
        (fork) => fork.provide(brings, name),
      )
    },
  })

describe('forks in a ring', () => {
  it('KN-19 of an even number come to rest, the first loaded first', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(contrary('first', A, B))
    kernel.load(contrary('second', B, A))
    await kernel.settled()
    expect(kernel.inspect().provisions).toMatchObject({ b: 'first' })
    expect(kernel.get(A)).toBeUndefined()
  })

  it('KN-19 of an odd number have no state to rest in: one is dropped and reported, and the process goes on', async () => {
    await using kernel = new Kernel(quiet)
    const faults: { row: string; code: unknown }[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'fault') faults.push({ row: event.row, code: (event.error as { code?: string }).code })
    })
    kernel.load(contrary('one', A, B))
    kernel.load(contrary('two', B, C))
    kernel.load(contrary('three', C, A))
    await kernel.settled()
    expect(faults).toEqual([{ row: expect.stringMatching(/one|two|three/), code: 'CAPABILITY_CYCLE' }])
    expect(kernel.inspect()).toMatchObject({ settled: true, rows: [{ phase: 'active' }, { phase: 'active' }, { phase: 'active' }] })
  })

  it('KN-19 nobody waits for what the dropped one would bring', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(contrary('one', A, B))
    kernel.load(contrary('two', B, C))
    kernel.load(contrary('three', C, A))
    await kernel.settled()
    const users = [A, B, C].map((token) => kernel.load(traced([], `user-of-${token.key}`, { inject: [token] })))
    const fates = await Promise.allSettled(users.map((user) => user.ready()))
    const there = [A, B, C].map((token) => (kernel.get(token) === undefined ? 'rejected' : 'fulfilled'))
    expect(fates.map(({ status }) => status)).toEqual(there)
    expect(there).toContain('rejected')
  })

  it('KN-19 a fork that commands flip a hundred times and more is not taken for one', async () => {
    await using kernel = new Kernel(quiet)
    let flips = 0
    const needs = definePlugin({
      name: 'needs',
      activate: (scope) =>
        scope.inject([A], () => {
          flips++
        }),
    })
    const brings = definePlugin({ name: 'brings', provides: [A], activate: (scope) => scope.provide(A, 'a') })
    kernel.load(needs)
    for (let round = 0; round < 150; round++) {
      const row = kernel.load(brings)
      await row.ready()
      await kernel.settled()
      await row.unload()
    }
    expect(flips).toBe(150)
  })
})
