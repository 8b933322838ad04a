import { definePlugin, Kernel, Reconciling } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { forked } from './forked.ts'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'

function reconcilingOf(kernel: Kernel): Reconciling {
  const reconciling = kernel.get(Reconciling)
  if (reconciling === undefined) throw new Error('the kernel provides it')
  return reconciling
}
const never = new AbortController().signal

describe('Reconciling', () => {
  it('KN-40 `pending` names exactly the rows in transition, in load order', async () => {
    await using kernel = new Kernel(quiet)
    const reconciling = reconcilingOf(kernel)
    const [up, down] = [new Gate(), new Gate()]
    expect(reconciling.pending()).toEqual([])
    const leaving = kernel.load(traced([], 'leaving', { down }))
    kernel.load(traced([], 'waiting', { inject: [A] }))
    kernel.load(traced([], 'failed', { fails: () => true }))
    kernel.load(traced([], 'active'))
    await kernel.settled()
    expect(reconciling.pending()).toEqual([])
    kernel.load(traced([], 'coming', { up }))
    await up.reached
    expect(reconciling.pending()).toEqual(['coming'])
    void leaving.unload()
    await down.reached
    expect(reconciling.pending()).toEqual(['leaving', 'coming'])
    down.open()
    await drained()
    expect(reconciling.pending()).toEqual(['coming'])
    up.open()
    await kernel.settled()
    expect(reconciling.pending()).toEqual([])
  })

  it('KN-40 a row is pending from the command on, and while its fork is in transition', async () => {
    await using kernel = new Kernel(quiet)
    const reconciling = reconcilingOf(kernel)
    const [up, forkUp] = [new Gate(), new Gate()]
    kernel.load(forked([], 'host', { needs: [A], up: forkUp }))
    await kernel.settled()
    kernel.load(traced([], 'provider', { provides: [A], up }))
    expect(reconciling.pending()).toEqual(['provider'])
    up.open()
    await forkUp.reached
    expect(reconciling.pending()).toEqual(['host'])
    forkUp.open()
    await kernel.settled()
    expect(reconciling.pending()).toEqual([])
  })

  it('KN-40 a dependent is pending all through the restart of its provider', async () => {
    await using kernel = new Kernel(quiet)
    const reconciling = reconcilingOf(kernel)
    const [down, up] = [new Gate(), new Gate()]
    kernel.load(traced([], 'user', { inject: [A], down }))
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    const replacing = provider.replace(traced([], 'provider', { provides: [A], up }))
    await down.reached
    expect(reconciling.pending()).toEqual(['user', 'provider'])
    down.open()
    await up.reached
    expect(reconciling.pending()).toContain('provider')
    up.open()
    await replacing
    await kernel.settled()
  })

  it('KN-40 `settled` resolves after the last transition, and at once when there is none', async () => {
    await using kernel = new Kernel(quiet)
    const reconciling = reconcilingOf(kernel)
    await reconciling.settled(never)
    const [one, two] = [new Gate(), new Gate()]
    kernel.load(traced([], 'one', { provides: [A], up: one }))
    kernel.load(traced([], 'two', { inject: [A], up: two }))
    let settled = false
    const waiting = reconciling.settled(never).then(() => {
      settled = true
    })
    await one.reached
    one.open()
    await two.reached
    await drained()
    expect(settled).toBe(false)
    two.open()
    await waiting
    expect(kernel.row('two')?.phase).toBe('active')
  })

  it('KN-40 `settled` rejects with the reason of its signal, before or while it waits', async () => {
    await using kernel = new Kernel(quiet)
    const reconciling = reconcilingOf(kernel)
    const up = new Gate()
    kernel.load(traced([], 'slow', { up }))
    await up.reached
    const reason = new Error('the call was cancelled')
    const controller = new AbortController()
    const waiting = reconciling.settled(controller.signal)
    controller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(reconciling.settled(controller.signal)).rejects.toBe(reason)
    up.open()
    await kernel.settled()
  })

  it('KN-40 is injected like any other capability, bound to the kernel, and usable from inside plugins', async () => {
    await using kernel = new Kernel(quiet)
    const log: unknown[] = []
    const [up, down] = [new Gate(), new Gate()]
    const row = kernel.load(
      definePlugin({
        name: 'registry',
        inject: [Reconciling],
        activate(scope, reconciling) {
          log.push(reconciling.pending())
          scope.spawn(async (signal) => {
            await reconciling.settled(signal)
            log.push('settled')
          })
          scope.inject([A], async (fork) => {
            log.push(reconciling.pending())
            await up.pass()
            fork.defer(async () => {
              log.push(reconciling.pending())
              await down.pass()
            })
          })
        },
      }),
    )
    kernel.load(traced([], 'provider', { provides: [A] }))
    await up.reached
    await drained()
    expect(log).toEqual([expect.arrayContaining(['registry']), ['registry']])
    up.open()
    await kernel.settled()
    await drained()
    expect(log.splice(0)).toContain('settled')
    expect(kernel.inspect().rows[0]).toMatchObject({ injects: ['reconciling'], bindings: { reconciling: 'kernel' } })
    expect(kernel.inspect().provisions).toMatchObject({ reconciling: 'kernel' })
    down.open()
    await row.unload()
    expect(log).toEqual([['registry']])
  })

  it('KN-40 waiting for it inside an activation is no deadlock error: it ends with its signal', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 5000 } })
    let answer: unknown
    const row = kernel.load(
      definePlugin({
        name: 'impatient',
        inject: [Reconciling],
        async activate(_, reconciling) {
          const controller = new AbortController()
          const waiting = reconciling.settled(controller.signal)
          await drained()
          controller.abort(new Error('enough'))
          answer = await waiting.catch((error: Error) => error.message)
        },
      }),
    )
    await row.ready()
    expect(answer).toBe('enough')
  })

  it('KN-40 can be claimed by no plugin', async () => {
    await using kernel = new Kernel(quiet)
    const plugin = definePlugin({ name: 'usurper', provides: [Reconciling], activate: () => undefined })
    let phase: string | undefined
    try {
      const row = kernel.load(plugin)
      await kernel.settled()
      phase = row.phase
    } catch (error) {
      phase = (error as { code: string }).code
    }
    expect(['waiting', 'CAPABILITY_TAKEN']).toContain(phase)
    expect(kernel.get(Reconciling)?.pending()).toEqual([])
  })
})
