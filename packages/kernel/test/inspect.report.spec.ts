import { type Cause, definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { forked } from './forked.ts'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, B, C, D, traced } from './traced.ts'

/** All that a tree of causes says, as text. */
function told(cause: Cause): string {
  return [cause.row, cause.phase, cause.code, cause.capability, cause.message, ...cause.causes.map(told)].join(' ')
}

describe('inspect', () => {
  it('KN-39 is plain JSON in every phase, and a copy', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { undoMs: 20 } })
    const up = new Gate()
    kernel.load(traced([], 'provider', { provides: [A] }))
    kernel.load(forked([], 'fork', { needs: [A] }))
    kernel.load(forked([], 'other-fork', { needs: [D] }))
    kernel.load(traced([], 'failed', { fails: () => true }))
    kernel.load(traced([], 'waiting', { inject: [C] }))
    kernel.load(
      definePlugin({
        name: 'keeper',
        activate: (scope) => void scope.keep({ key: 'k', version: 1, create: () => () => 1, dispose: () => undefined }),
      }),
    )
    kernel.load(traced([], 'slow', { up }))
    await up.reached
    await drained()
    const report = kernel.inspect()
    expect(JSON.parse(JSON.stringify(report))).toEqual(report)
    expect(report.settled).toBe(false)
    expect(Object.fromEntries(report.rows.map(({ id, phase }) => [id, phase]))).toEqual({
      ...{ provider: 'active', fork: 'active', 'other-fork': 'active', failed: 'failed', waiting: 'waiting', keeper: 'active', slow: 'activating' },
    })
    up.open()
    await kernel.settled()
    expect(kernel.inspect().settled).toBe(true)
    expect(report.rows.find(({ id }) => id === 'slow')?.phase).toBe('activating')
  })

  it('KN-39 tells plugin, needs, offers, bindings, effects, kept keys, generation, durations and provisions', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(traced([], 'base', { provides: [A] }))
    kernel.load(
      definePlugin({
        name: 'middle',
        inject: [A],
        provides: [B, C],
        activate(scope) {
          scope.provide(B, 'b')
          scope.defer(() => undefined)
          scope.defer(() => undefined)
          scope.keep({ key: 'state', version: 1, create: () => 1, dispose: () => undefined })
        },
      }),
      undefined,
      { id: 'm', optional: true },
    )
    await kernel.settled()
    const report = kernel.inspect()
    expect(report.rows[1]).toMatchObject({
      ...{ id: 'm', plugin: 'middle', phase: 'active', generation: 1, optional: true },
      ...{ injects: ['a'], provides: ['b', 'c'], offers: ['b'], bindings: { a: 'base' }, effects: 2, kept: ['state'], faults: [], forks: [] },
      activationMs: expect.any(Number),
    })
    expect(report.rows[0]?.effects).toBe(1)
    expect(report.provisions).toMatchObject({ a: 'base', b: 'm' })
    expect(report.provisions).not.toHaveProperty('c')
  })

  it('KN-39 lists rows in load order, keeps at most 20 faults, the newest last', async () => {
    await using kernel = new Kernel(quiet)
    for (const name of ['zebra', 'ant', 'mouse']) kernel.load(traced([], name))
    const row = kernel.load(
      definePlugin({
        name: 'noisy',
        config: z.int(),
        activate: (scope) => {
          const n = scope.config
          scope.defer(() => Promise.reject(new Error(`fault ${n}`)))
        },
      }),
      0,
    )
    for (let n = 1; n <= 25; n++) await row.reconfigure(n)
    const { rows } = kernel.inspect()
    expect(rows.map(({ id }) => id)).toEqual(['zebra', 'ant', 'mouse', 'noisy'])
    const messages = rows[3]?.faults.map(({ message }) => message) ?? []
    expect([messages.length, messages.at(-1)?.includes('fault 24')]).toEqual([20, true])
  })

  it('KN-39 the durations are those of the last activation and closing', async () => {
    await using kernel = new Kernel(quiet)
    const row = kernel.load(
      definePlugin({ name: 'slow', config: z.int(), activate: (scope) => scope.defer(() => new Promise((resolve) => setTimeout(resolve, 25))) }),
      1,
    )
    await row.ready()
    expect(kernel.inspect().rows[0]?.closingMs).toBeUndefined()
    await row.reconfigure(2)
    expect(kernel.inspect().rows[0]?.closingMs).toBeGreaterThanOrEqual(20)
    expect(kernel.inspect().rows[0]?.activationMs).toBeLessThan(20)
  })
})

describe('explain', () => {
  it('KN-39 B166 names the capability nobody provides', async () => {
    await using kernel = new Kernel(quiet)
    const row = kernel.load(traced([], 'user', { inject: [A] }))
    await kernel.settled()
    const cause = kernel.explain('user')
    expect(cause).toMatchObject({ row: 'user', phase: 'waiting', capability: 'a', message: expect.stringMatching(/"a"/) })
    await expect(row.ready()).rejects.toMatchObject({ code: 'PLUGIN_UNRESOLVED', message: expect.stringMatching(/user.*"a"/s) })
  })

  it('KN-39 names who could provide it, and why that one is not active, down to the root', async () => {
    await using kernel = new Kernel(quiet)
    const row = kernel.load(traced([], 'leaf', { inject: [C] }))
    kernel.load(traced([], 'middle', { inject: [B], provides: [C] }))
    kernel.load(
      definePlugin({
        name: 'root',
        provides: [B],
        activate() {
          throw new Error('disk full')
        },
      }),
    )
    await kernel.settled()
    const cause = kernel.explain('leaf')
    expect(cause).toMatchObject({
      row: 'leaf',
      capability: 'c',
      causes: [{ row: 'middle', phase: 'waiting', capability: 'b', causes: [{ row: 'root', phase: 'failed', code: 'ACTIVATION_FAILED' }] }],
    })
    expect(told(cause)).toContain('disk full')
    expect(JSON.parse(JSON.stringify(cause))).toEqual(cause)
    await expect(row.ready()).rejects.toMatchObject({
      code: 'PLUGIN_UNRESOLVED',
      message: expect.stringMatching(/leaf.*middle.*root.*disk full/s),
      details: expect.anything(),
    })
  })

  it('KN-39 names every missing need of a row, not only the first', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(traced([], 'user', { inject: [A, B] }))
    await kernel.settled()
    const text = told(kernel.explain('user'))
    expect(text).toContain('"a"')
    expect(text).toContain('"b"')
  })

  it('KN-39 names a row that could bring it in a fork, and what that fork waits for', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(traced([], 'user', { inject: [A] }))
    kernel.load(definePlugin({ name: 'bridge', provides: [A], activate: (scope) => scope.inject([D], (fork, d) => fork.provide(A, d)) }))
    await kernel.settled()
    const text = told(kernel.explain('user'))
    expect(text).toContain('bridge')
    expect(text).toContain('"d"')
  })

  it('KN-39 comes to an end where forks of one row wait for what other forks of it bring', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(
      definePlugin({
        name: 'tangled',
        provides: [A],
        activate(scope) {
          scope.inject([A, B], () => undefined)
          scope.inject([C], (fork, c) => fork.provide(A, c))
        },
      }),
    )
    const row = kernel.load(traced([], 'user', { inject: [A] }))
    await expect(row.ready()).rejects.toMatchObject({ code: 'PLUGIN_UNRESOLVED', message: expect.stringContaining('"c"') })
    expect(told(kernel.explain('user'))).toContain('tangled')
  })

  it('KN-39 says of a row in transition or active what it is, and refuses an unknown id', async () => {
    await using kernel = new Kernel(quiet)
    const up = new Gate()
    kernel.load(traced([], 'provider', { provides: [A], up }))
    kernel.load(traced([], 'user', { inject: [A] }))
    await up.reached
    expect(kernel.explain('user')).toMatchObject({ phase: 'waiting', capability: 'a', causes: [{ row: 'provider', phase: 'activating' }] })
    up.open()
    await kernel.settled()
    expect(kernel.explain('user')).toMatchObject({ row: 'user', phase: 'active', causes: [] })
    expect(() => kernel.explain('nobody')).toThrow(expect.objectContaining({ message: expect.stringContaining('nobody') }))
  })
})
