import { definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { phases, phasesOf } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'

/** Activates through the gate that belongs to its config, and says how it was configured. */
function configured(log: string[], gates: Record<string, Gate>): Plugin<string> {
  return definePlugin({
    name: 'configured',
    config: z.string(),
    provides: [A],
    async activate(scope) {
      const { config } = scope
      log.push(`up ${config}`)
      scope.defer(() => void log.push(`down ${config}`))
      await gates[config]?.pass()
      if (!scope.signal.aborted) scope.provide(A, config)
    },
  })
}

describe('removal', () => {
  it('KN-11 during `activating` aborts the signal, waits for the activation, then undoes', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gate = new Gate()
    const row = kernel.load(
      definePlugin({
        name: 'slow',
        provides: [A],
        async activate(scope) {
          scope.defer(() => void log.push('undone'))
          scope.signal.addEventListener('abort', () => log.push('aborted'))
          await gate.pass()
          log.push('activation goes on')
        },
      }),
    )
    await gate.reached
    let unloaded = false
    const unloading = row.unload().then(() => {
      unloaded = true
    })
    await drained()
    expect([log, unloaded]).toEqual([['aborted'], false])
    gate.open()
    await unloading
    expect(log).toEqual(['aborted', 'activation goes on', 'undone'])
    expect([row.phase, kernel.row('slow'), kernel.get(A)]).toEqual(['unloaded', undefined, undefined])
  })

  it('KN-11 what a cancelled activation goes on to register is undone, once', async () => {
    await using kernel = new Kernel(quiet)
    const gate = new Gate()
    let undone = 0
    let provided = 0
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'provided') provided++
    })
    const row = kernel.load(
      definePlugin({
        name: 'slow',
        provides: [A],
        async activate(scope) {
          await gate.pass()
          scope.provide(A, 'too late')
          scope.defer(() => void undone++)
        },
      }),
    )
    await gate.reached
    const unloading = row.unload()
    gate.open()
    await unloading
    await drained()
    expect(provided).toBe(0)
    expect(undone).toBeLessThanOrEqual(1)
    await kernel.close()
    expect(undone).toBeLessThanOrEqual(1)
  })

  it('KN-11 an activation that answers its cancellation with an error ends unloaded, not failed', async () => {
    await using kernel = new Kernel(quiet)
    const seen = new Gate()
    const row = kernel.load(
      definePlugin({
        name: 'obedient',
        async activate(scope) {
          void seen.pass()
          await new Promise((_, reject) => scope.signal.addEventListener('abort', () => reject(scope.signal.reason)))
        },
      }),
    )
    const phases = phasesOf(kernel, 'obedient')
    await seen.reached
    await row.unload()
    expect(row.phase).toBe('unloaded')
    expect(phases).not.toContain('failed')
    expect(phases).not.toContain('active')
  })

  it('KN-11 before the first microtask never runs `activate`', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    await kernel.load(traced(log, 'brief')).unload()
    await kernel.settled()
    expect([log, kernel.row('brief')]).toEqual([[], undefined])
  })

  it('KN-11 load, unload and load of one id in one tick activates only the last', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const first = kernel.load(traced(log, 'row'), undefined, { id: 'x' })
    void first.unload()
    const second = kernel.load(traced(log, 'other'), undefined, { id: 'x' })
    await kernel.settled()
    expect(log).toEqual(['other up'])
    expect([first.phase, second.phase, kernel.row('x')]).toEqual(['unloaded', 'active', second])
  })

  it('KN-11 an active row unloaded and loaded again in one tick is fully closed before the new one starts', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const first = kernel.load(traced(log, 'old', { provides: [A], down }), undefined, { id: 'x' })
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    void first.unload()
    const second = kernel.load(traced(log, 'new', { provides: [A] }), undefined, { id: 'x' })
    await down.reached
    await drained()
    expect(second.phase).toBe('waiting')
    down.open()
    await kernel.settled()
    expect(log).toEqual(['old up', 'user up old#1', 'user down', 'old down', 'old closed', 'new up', 'user up new#1'])
    expect(first.phase).toBe('unloaded')
    expect(phases(kernel)).toEqual({ x: 'active', user: 'active' })
  })

  it('KN-11 asked for twice is one removal, and both calls wait for its end', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const row = kernel.load(traced(log, 'row', { down }))
    await row.ready()
    const ended: string[] = []
    void row.unload().then(() => ended.push('one'))
    void row.unload().then(() => ended.push('two'))
    await down.reached
    await drained()
    expect(ended).toEqual([])
    down.open()
    await row.unload()
    expect(ended.toSorted()).toEqual(['one', 'two'])
    expect(log).toEqual(['row up', 'row down', 'row closed'])
  })
})

describe('a dependency', () => {
  it('KN-12 lost during `activating` cancels the dependent, which is undone before the provider starts to close', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const [up, down] = [new Gate(), new Gate()]
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    const user = kernel.load(traced(log, 'user', { inject: [A], up, down }))
    const phases = phasesOf(kernel, 'user')
    await up.reached
    const unloading = provider.unload()
    await drained()
    expect(log).toEqual(['provider up', 'user up provider#1'])
    up.open()
    await down.reached
    await drained()
    expect(log.at(-1)).toBe('user down')
    down.open()
    await unloading
    await kernel.settled()
    expect(log).toEqual(['provider up', 'user up provider#1', 'user down', 'user closed', 'provider down'])
    expect(user.phase).toBe('waiting')
    expect(phases).not.toContain('active')
  })

  it('KN-12 returned during `deactivating` brings the dependent back, bound to the new value, after it has closed', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const provider = kernel.load(traced(log, 'old', { provides: [A] }), undefined, { id: 'provider' })
    const user = kernel.load(traced(log, 'user', { inject: [A], down }))
    await kernel.settled()
    void provider.unload()
    await down.reached
    kernel.load(traced(log, 'new', { provides: [A] }), undefined, { id: 'provider-2' })
    await drained()
    expect([user.phase, log.at(-1)]).toEqual(['deactivating', 'user down'])
    down.open()
    await user.ready()
    expect(log).toEqual(['old up', 'user up old#1', 'user down', 'user closed', 'old down', 'new up', 'user up new#1'])
  })

  it('KN-12 lost and returned within one activation: the dependent ends bound to the newest value only', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const provider = kernel.load(traced(log, 'old', { provides: [A] }), undefined, { id: 'provider' })
    const user = kernel.load(traced(log, 'user', { inject: [A], up }))
    await up.reached
    void provider.unload()
    const again = kernel.load(traced(log, 'new', { provides: [A] }), undefined, { id: 'provider' })
    await drained()
    void again.unload()
    kernel.load(traced(log, 'newest', { provides: [A] }), undefined, { id: 'provider' })
    await drained()
    up.open()
    await user.ready()
    await kernel.settled()
    expect(log).toEqual(['old up', 'user up old#1', 'user down', 'old down', 'newest up', 'user up newest#1'])
  })

  it('KN-12 that flaps many times while the dependent closes costs it one restart', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    let provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    const user = kernel.load(traced(log, 'user', { inject: [A], down }))
    await kernel.settled()
    for (let flap = 0; flap < 5; flap++) {
      void provider.unload()
      provider = kernel.load(traced(log, 'provider', { provides: [A] }))
      await drained(1)
    }
    down.open()
    await user.ready()
    await kernel.settled()
    expect(log.filter((line) => line.startsWith('user up'))).toHaveLength(2)
    expect(phases(kernel)).toEqual({ provider: 'active', user: 'active' })
  })
})

describe('an edit during `activating`', () => {
  it('KN-13 a new config is not lost: the activation is redone with it, never active with the old one', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gates = { one: new Gate() }
    const row = kernel.load(configured(log, gates), 'one')
    const provided: (string | undefined)[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'provided') provided.push(kernel.get(A))
    })
    await gates.one.reached
    const reconfigured = row.reconfigure('two')
    await drained()
    gates.one.open()
    await reconfigured
    expect(log).toEqual(['up one', 'down one', 'up two'])
    expect([provided, kernel.get(A)]).toEqual([['two'], 'two'])
  })

  it('KN-13 of several new configs the last one wins', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gates = { one: new Gate() }
    const row = kernel.load(configured(log, gates), 'one')
    await gates.one.reached
    void row.reconfigure('two')
    await drained()
    const last = row.reconfigure('three')
    gates.one.open()
    await last
    await kernel.settled()
    expect(log).toEqual(['up one', 'down one', 'up three'])
  })

  it('KN-13 a config changed and changed back leaves the row active with the first one', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gates = { one: new Gate() }
    const row = kernel.load(configured(log, gates), 'one')
    await gates.one.reached
    void row.reconfigure('two')
    await drained()
    void row.reconfigure('one')
    await drained()
    gates.one.open()
    await row.ready()
    await kernel.settled()
    expect([row.phase, kernel.get(A), log.at(-1)]).toEqual(['active', 'one', 'up one'])
  })

  it('KN-13 new code is not lost either', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const row = kernel.load(traced(log, 'old', { provides: [A], up }))
    await up.reached
    const replacing = row.replace(traced(log, 'new', { provides: [A] }))
    await drained()
    up.open()
    await replacing
    expect([log, kernel.get(A), row.phase]).toEqual([['old up', 'old down', 'new up'], 'new#1', 'active'])
  })
})

describe('a provision', () => {
  it('KN-14 replaced while a dependent activates: the dependent is never active on the old value', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const provider = kernel.load(configured(log, {}), 'one', { id: 'provider' })
    const user = kernel.load(traced(log, 'user', { inject: [A], up }))
    const phases = phasesOf(kernel, 'user')
    await up.reached
    void provider.reconfigure('two')
    await drained()
    up.open()
    await user.ready()
    await kernel.settled()
    expect(log).toEqual(['up one', 'user up one', 'user down', 'down one', 'up two', 'user up two'])
    expect(phases.filter((phase) => phase === 'active')).toHaveLength(1)
  })

  it('KN-14 replaced by an equal value is a new one all the same: identity decides', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const provider = (): Plugin<undefined> => definePlugin({ name: 'provider', provides: [A], activate: (scope) => scope.provide(A, 'same') })
    const row = kernel.load(provider())
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    await row.replace(provider())
    await kernel.settled()
    expect(log).toEqual(['user up same', 'user down', 'user up same'])
  })

  it('KN-14 replaced in the very tick in which the activation of its dependent ends', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const provider = kernel.load(configured(log, {}), 'one', { id: 'provider' })
    kernel.load(traced(log, 'user', { inject: [A], up }))
    await up.reached
    up.open()
    void provider.reconfigure('two')
    await kernel.settled()
    expect(log.at(-1)).toBe('user up two')
    expect(log.indexOf('user down')).toBeLessThan(log.indexOf('down one'))
    expect(phases(kernel)).toEqual({ provider: 'active', user: 'active' })
  })
})
