import { definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { forked } from './forked.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'
import { unhandledDuring } from './unhandled.ts'

const forever = (): Promise<void> => new Promise(() => undefined)

function hungActivation(name = 'hung', budgets: { activationMs?: number } = {}): Plugin<undefined> {
  return definePlugin({ name, provides: [B], budgets, activate: forever })
}

function hungUndo(name = 'hung', budgets: { undoMs?: number } = {}): Plugin<undefined> {
  return definePlugin({ name, budgets, activate: (scope) => scope.defer(forever) })
}

const row = (kernel: Kernel, id: string) => kernel.inspect().rows.find((one) => one.id === id)

describe('a hung activation', () => {
  it('KN-31 is cancelled after its budget and failed with ACTIVATION_TIMEOUT; the rest works meanwhile', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 40 } })
    let aborted = false
    const hung = kernel.load(
      definePlugin({
        name: 'hung',
        activate(scope) {
          scope.signal.addEventListener('abort', () => {
            aborted = true
          })
          return forever()
        },
      }),
    )
    const log: string[] = []
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await drained()
    expect(phases(kernel)).toEqual({ hung: 'activating', provider: 'active', user: 'active' })
    await provider.unload()
    expect(phases(kernel)).toEqual({ hung: 'activating', user: 'waiting' })
    await expect(hung.ready()).rejects.toMatchObject({ code: 'ACTIVATION_TIMEOUT', message: expect.stringContaining('hung') })
    expect([aborted, phases(kernel).hung]).toEqual([true, 'failed'])
    expect(row(kernel, 'hung')?.error).toMatchObject({ code: 'ACTIVATION_TIMEOUT', message: expect.stringMatching(/hung.*40/) })
  })

  it('KN-31 that wakes up later finds its scope closed, and what it brings is undone at once', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 20 } })
    const gate = new Gate()
    const refusals: unknown[] = []
    const undone: string[] = []
    const late = new Gate()
    kernel.load(
      definePlugin({
        name: 'hung',
        provides: [A],
        async activate(scope) {
          scope.defer(() => void undone.push('early'))
          await gate.pass()
          const attempts = [
            () => scope.defer(() => void undone.push('late')),
            () => scope.provide(A, 'late'),
            () => scope.inject([B], () => undefined),
          ]
          for (const attempt of attempts) {
            try {
              attempt()
            } catch (error) {
              refusals.push(error)
            }
          }
          late.open()
        },
      }),
    )
    await kernel.settled()
    expect([phases(kernel).hung, undone]).toEqual(['failed', ['early']])
    gate.open()
    await late.pass()
    await drained()
    expect(refusals).toEqual(Array.from({ length: 3 }, () => expect.objectContaining({ code: 'SCOPE_CLOSED' })))
    expect([undone, kernel.get(A), phases(kernel).hung]).toEqual([['early', 'late'], undefined, 'failed'])
  })

  it('KN-31 that rejects after its budget shows nowhere as unhandled', async () => {
    const gate = new Gate()
    const reasons = await unhandledDuring(async () => {
      await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 10 } })
      kernel.load(definePlugin({ name: 'hung', activate: () => gate.pass() }))
      await kernel.settled()
      gate.fail(new Error('much too late'))
      await drained()
    })
    expect(reasons).toEqual([])
  })

  it('KN-31 can be retried, unloaded, and does not keep its slot', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 20 } })
    const hung = kernel.load(hungActivation())
    kernel.load(traced([], 'rival', { provides: [B] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ hung: 'failed', rival: 'active' })
    await hung.unload()
    expect(phases(kernel)).toEqual({ rival: 'active' })
  })

  it('KN-31 that ignores its cancellation holds up its own removal for at most its budget', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 60, undoMs: 20 } })
    const hung = kernel.load(hungActivation())
    await drained()
    const started = performance.now()
    await hung.unload()
    expect(performance.now() - started).toBeLessThan(1000)
    expect(kernel.row('hung')).toBeUndefined()
  })

  it('KN-31 of a fork body fails the fork only', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 20 } })
    const log: string[] = []
    kernel.load(traced(log, 'provider', { provides: [A] }))
    kernel.load(forked(log, 'host', { needs: [A], up: new Gate() }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ provider: 'active', host: 'active' })
    expect(row(kernel, 'host')).toMatchObject({ forks: [{ phase: 'failed' }], faults: [{ code: 'ACTIVATION_TIMEOUT' }] })
    expect(log).toEqual(['provider up', 'host + provider#1', 'host -'])
  })

  it('KN-31 has the budget of its row, else of its plugin, else of the kernel', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 15 } })
    const gate = new Gate()
    const plugin = (name: string, budgets = {}): Plugin<undefined> => definePlugin({ name, budgets, activate: () => gate.pass() })
    kernel.load(plugin('kernels'))
    kernel.load(plugin('plugins', { activationMs: 20_000 }))
    kernel.load(plugin('rows', { activationMs: 20_000 }), undefined, { budgets: { activationMs: 15 } })
    await expect(kernel.row('kernels')?.ready()).rejects.toMatchObject({ code: 'ACTIVATION_TIMEOUT' })
    await expect(kernel.row('rows')?.ready()).rejects.toMatchObject({ code: 'ACTIVATION_TIMEOUT' })
    expect(phases(kernel)).toEqual({ kernels: 'failed', plugins: 'activating', rows: 'failed' })
    gate.open()
    await kernel.settled()
    expect(phases(kernel).plugins).toBe('active')
  })
})

describe('a hung undo', () => {
  it('KN-31 is recorded as CLEANUP_TIMEOUT and left behind: the row ends as asked, its other undos run, its provider closes', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { undoMs: 25 } })
    const log: string[] = []
    const faults: unknown[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'fault') faults.push(event)
    })
    const provider = kernel.load(traced(log, 'provider', { provides: [A] }))
    const user = kernel.load(
      definePlugin({
        name: 'user',
        inject: [A],
        activate(scope) {
          scope.defer(() => void log.push('user closed'))
          scope.defer(forever)
        },
      }),
    )
    await kernel.settled()
    await provider.unload()
    await kernel.settled()
    expect([log, user.phase]).toEqual([['provider up', 'user closed', 'provider down'], 'waiting'])
    expect(row(kernel, 'user')?.faults).toEqual([
      expect.objectContaining({ what: 'undo', code: 'CLEANUP_TIMEOUT', message: expect.stringContaining('user') }),
    ])
    expect(faults).toEqual([expect.objectContaining({ row: 'user', error: expect.objectContaining({ code: 'CLEANUP_TIMEOUT' }) })])
  })

  it('KN-31 that rejects after its budget shows nowhere as unhandled', async () => {
    const gate = new Gate()
    const reasons = await unhandledDuring(async () => {
      const kernel = new Kernel({ ...quiet, budgets: { undoMs: 10 } })
      kernel.load(definePlugin({ name: 'hung', activate: (scope) => scope.defer(() => gate.pass()) }))
      await kernel.settled()
      await kernel.close()
      gate.fail(new Error('much too late'))
      await drained()
    })
    expect(reasons).toEqual([])
  })

  it('KN-31 of many rows that do not need each other cost one budget together, and close ends within it', async () => {
    const kernel = new Kernel({ ...quiet, budgets: { undoMs: 150 } })
    for (let i = 0; i < 8; i++) kernel.load(hungUndo(`hung-${i}`))
    await kernel.settled()
    const started = performance.now()
    await kernel.close()
    expect(performance.now() - started).toBeLessThan(600)
  })

  it('KN-31 together with hung activations, hung spawned work and a hung disposal leaves a close that ends, and no timer', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const kernel = new Kernel({ ...quiet, budgets: { activationMs: 40, undoMs: 20 } })
    kernel.load(hungActivation())
    kernel.load(hungUndo('undo'))
    kernel.load(definePlugin({ name: 'spawner', activate: (scope) => scope.spawn(forever) }))
    kernel.load(definePlugin({ name: 'keeper', activate: (scope) => void scope.keep({ key: 'k', version: 1, create: () => 1, dispose: forever }) }))
    kernel.load(definePlugin({ name: 'child', activate: (scope) => scope.child('c').defer(forever) }))
    await drained()
    await kernel.close()
    expect(timers()).toBe(before)
  })

  it('KN-31 names its row in the fault of each undo, when several hang', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { undoMs: 10 } })
    const codes: unknown[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'fault') codes.push([event.row, (event.error as { code?: string }).code])
    })
    const hung = kernel.load(
      definePlugin({
        name: 'hung',
        activate(scope) {
          scope.defer(forever)
          scope.defer(() => {
            throw new Error('broken undo')
          })
          scope.defer(forever)
        },
      }),
    )
    await hung.ready()
    await hung.unload()
    expect(codes).toEqual([
      ['hung', 'CLEANUP_TIMEOUT'],
      ['hung', undefined],
      ['hung', 'CLEANUP_TIMEOUT'],
    ])
  })
})

describe('while an unrelated row hangs', () => {
  const patient = { ...quiet, budgets: { activationMs: 5000, undoMs: 5000 } }

  it('KN-31 `ready`, `reconfigure` and `unload` of the others answer all the same', async () => {
    const gate = new Gate()
    const kernel = new Kernel(patient)
    kernel.load(definePlugin({ name: 'hung', activate: () => gate.pass() }))
    const fine = kernel.load(traced([], 'fine'))
    const failing = kernel.load(traced([], 'failing', { fails: () => true }))
    const unmet = kernel.load(traced([], 'unmet', { inject: [A] }))
    await gate.reached
    const answers: string[] = []
    const answer = (name: string, promise: Promise<void>): Promise<unknown> =>
      promise.then(
        () => answers.push(`${name} done`),
        (error: { code: string }) => answers.push(`${name} ${error.code}`),
      )
    void answer('ready', fine.ready())
    void answer('failing', failing.ready())
    void answer('unmet', unmet.ready())
    await drained()
    void answer('ready of an active row', fine.ready())
    void answer('reconfigure', fine.reconfigure(undefined))
    await drained()
    void answer('unload', fine.unload())
    await drained()
    expect(answers.toSorted()).toEqual(
      [
        'failing ACTIVATION_FAILED',
        'ready done',
        'ready of an active row done',
        'reconfigure done',
        'unload done',
        'unmet PLUGIN_UNRESOLVED',
      ].toSorted(),
    )
    gate.open()
    await kernel.close()
  })

  it('KN-31 closing costs a removal nothing in another part of the graph', async () => {
    const gate = new Gate()
    const kernel = new Kernel(patient)
    const hung = kernel.load(definePlugin({ name: 'hung', activate: (scope) => scope.defer(() => gate.pass()) }))
    const fine = kernel.load(traced([], 'fine'))
    await kernel.settled()
    void hung.unload()
    await gate.reached
    let unloaded = false
    void fine.unload().then(() => {
      unloaded = true
    })
    await drained()
    expect(unloaded).toBe(true)
    gate.open()
    await kernel.close()
  })
})
