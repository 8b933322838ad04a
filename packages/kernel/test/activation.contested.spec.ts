import { type Capability, definePlugin, Kernel } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, C, D, traced } from './traced.ts'

/** Brings `brings` while `needs` is there, and with `always` also while it is not. */
const bridge = (
  log: string[],
  name: string,
  needs: Capability<string>,
  brings: Capability<string>,
  { always = false, up }: { always?: boolean; up?: Gate },
) =>
  definePlugin({
    name,
    provides: [brings],
    activate: (scope) =>
      scope.inject(
        [needs],
        async (fork) => {
          log.push(`${name} present`)
          await up?.pass()
          fork.provide(brings, name)
        },
        (fork) => {
          log.push(`${name} otherwise`)
          if (always) fork.provide(brings, name)
        },
      ),
  })

describe('a contested capability', () => {
  it('KN-06 goes to the first loaded of two rows that could start', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'first', { provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    await kernel.settled()
    expect([log, phases(kernel), kernel.get(A)]).toEqual([['first up'], { first: 'active', second: 'waiting' }, 'first#1'])
  })

  it.each(['slow', 'fast'] as const)('KN-06 goes to the first loaded whose needs can be met, when they come up %s', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(traced(log, 'first', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    kernel.load(traced(log, 'need', { provides: [B], up }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await up.reached
    await drained()
    up.open()
    await kernel.settled()
    expect(phases(kernel)).toEqual({ first: 'active', second: 'waiting', need: 'active', user: 'active' })
    expect(log).toEqual(['need up', 'first up need#1', 'user up first#1'])
  })

  it.each(['slow', 'fast'] as const)('KN-06 goes to the next when the need of the first loaded fails %s', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(traced(log, 'first', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    kernel.load(traced(log, 'need', { provides: [B], up, fails: () => true }))
    await up.reached
    await drained()
    up.open()
    await kernel.settled()
    expect([phases(kernel), kernel.get(A)]).toEqual([{ first: 'waiting', second: 'active', need: 'failed' }, 'second#1'])
  })

  it.each(['slow', 'fast'] as const)('KN-06 goes to the next when the first loaded itself fails %s', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(traced(log, 'first', { provides: [A], up, fails: () => true }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await up.reached
    await drained()
    if (timing === 'slow') expect(log).toEqual(['first up'])
    up.open()
    await kernel.settled()
    expect([phases(kernel), log]).toEqual([
      { first: 'failed', second: 'active', user: 'active' },
      ['first up', 'first down', 'second up', 'user up second#1'],
    ])
  })

  it('KN-06 goes to one whose needs are there when nobody brings what the first loaded needs', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'first', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ first: 'waiting', second: 'active' })
  })

  it('KN-06 stays with its holder when an earlier row becomes able to provide it', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'first', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    await kernel.settled()
    kernel.load(traced(log, 'need', { provides: [B] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ first: 'waiting', second: 'active', need: 'active' })
    expect(kernel.explain('first')).toMatchObject({ code: 'CAPABILITY_TAKEN' })
  })

  it('KN-06 B160 a second provider waits with CAPABILITY_TAKEN, both rows named, and follows when the slot is free', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const first = kernel.load(traced(log, 'first', { provides: [A] }))
    const second = kernel.load(traced(log, 'second', { provides: [A] }))
    const user = kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    const cause = kernel.explain('second')
    expect(cause).toMatchObject({ row: 'second', phase: 'waiting', code: 'CAPABILITY_TAKEN', capability: 'a' })
    expect(JSON.stringify(cause)).toContain('first')
    await expect(second.ready()).rejects.toMatchObject({ message: expect.stringContaining('second') })
    await first.unload()
    await user.ready()
    expect(log).toEqual(['first up', 'user up first#1', 'user down', 'first down', 'second up', 'user up second#1'])
  })

  it('KN-06 a row that claims two, of which one is taken, starts neither', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const holder = kernel.load(traced(log, 'holder', { provides: [A] }))
    kernel.load(traced(log, 'greedy', { provides: [A, B] }))
    kernel.load(traced(log, 'modest', { provides: [B] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ holder: 'active', greedy: 'waiting', modest: 'active' })
    await holder.unload()
    await kernel.settled()
    expect(phases(kernel)).toEqual({ greedy: 'waiting', modest: 'active' })
  })

  it('KN-06 of three, the first loaded of those left takes over each time, load order deciding', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const rows = ['one', 'two', 'three'].map((name) => kernel.load(traced(log, name, { provides: [A] })))
    await kernel.settled()
    await rows[0]?.unload()
    await kernel.settled()
    await rows[1]?.unload()
    await kernel.settled()
    expect(log).toEqual(['one up', 'one down', 'two up', 'two down', 'three up'])
  })

  it.each(['slow', 'fast'] as const)('KN-06 a claimant whose need itself is contested waits for that to be decided (%s)', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(traced(log, 'first', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    kernel.load(traced(log, 'b-broken', { provides: [B], up, fails: () => true }))
    kernel.load(traced(log, 'b-good', { inject: [C], provides: [B] }))
    kernel.load(traced(log, 'c', { provides: [C] }))
    await up.reached
    await drained()
    up.open()
    await kernel.settled()
    expect(phases(kernel)).toEqual({ first: 'active', second: 'waiting', 'b-broken': 'failed', 'b-good': 'active', c: 'active' })
  })

  it.each(['slow', 'fast'] as const)('KN-06 goes to the first loaded although another slot of it is held by one that fails %s', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(traced(log, 'holder', { provides: [B], up, fails: () => true }))
    kernel.load(traced(log, 'first', { provides: [A, B] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    await up.reached
    await drained()
    up.open()
    await kernel.settled()
    expect(phases(kernel)).toEqual({ holder: 'failed', first: 'active', second: 'waiting' })
  })

  it('KN-06 a reload of its provider does not hand it to a rival', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const need = kernel.load(traced(log, 'need', { provides: [B] }))
    kernel.load(traced(log, 'first', { inject: [B], provides: [A] }))
    kernel.load(traced(log, 'rival', { provides: [A] }))
    await kernel.settled()
    await need.replace(traced(log, 'need', { provides: [B] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ need: 'active', first: 'active', rival: 'waiting' })
    expect(log).not.toContain('rival up')
  })

  it('KN-06 goes to the rival when the first loaded needs what only that rival brings', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.load(traced(log, 'first', { inject: [A], provides: [B] }))
    kernel.load(traced(log, 'second', { provides: [A, B] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ first: 'waiting', second: 'active' })
  })

  it.each(['slow', 'fast'] as const)('KN-06 goes to the first loaded whose need hangs on what an `otherwise` brings (%s)', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(bridge(log, 'need', C, D, { up }))
    kernel.load(traced(log, 'first', { inject: [D], provides: [A] }))
    kernel.load(bridge(log, 'substitute', B, C, { always: true }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    await up.reached
    await drained()
    up.open()
    await kernel.settled()
    expect(phases(kernel)).toEqual({ need: 'active', first: 'active', substitute: 'active', second: 'waiting' })
    expect(log).toEqual(['substitute otherwise', 'need present', 'first up need'])
  })

  it.each(['slow', 'fast'] as const)('KN-06 goes to the first loaded whose need a fork brings that has to change over first (%s)', async (timing) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    if (timing === 'fast') up.open()
    kernel.load(bridge(log, 'need', C, D, {}))
    await kernel.settled()
    kernel.load(traced(log, 'first', { inject: [D], provides: [A] }))
    kernel.load(traced(log, 'second', { provides: [A] }))
    kernel.load(traced(log, 'base', { provides: [C], up }))
    await up.reached
    await drained()
    up.open()
    await kernel.settled()
    expect(phases(kernel)).toEqual({ need: 'active', first: 'active', second: 'waiting', base: 'active' })
    expect(log).toEqual(['need otherwise', 'base up', 'need present', 'first up need'])
  })
})
