import { definePlugin, Emitter, inject, Kernel, PluginScope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'

class Parts {
  constructor(@inject(PluginScope) readonly scope: PluginScope) {}
}

const emitter = new Emitter<string>()
const undone: string[] = []

const verbs: Record<string, (scope: PluginScope<unknown, typeof A>) => unknown> = {
  defer: (scope) => scope.defer(() => void undone.push('defer')),
  use: (scope) => scope.use({ [Symbol.dispose]: () => void undone.push('use') }),
  spawn: (scope) => scope.spawn(async () => void undone.push('spawned')),
  child: (scope) => scope.child('child'),
  provide: (scope) => scope.provide(A, 'zombie'),
  inject: (scope) => scope.inject([], () => void undone.push('fork')),
  on: (scope) => emitter.on(scope, () => void undone.push('listener')),
  keep: (scope) => scope.keep({ key: 'k', version: 1, create: () => undone.push('kept'), dispose: () => undefined }),
  construct: (scope) => scope.construct(Parts),
  config: (scope) => scope.config,
}

/** Runs a row twice and gives back the scope of its first generation. */
async function oldScope(kernel: Kernel, end: 'reconfigure' | 'replace' | 'unload' | 'a provider that left'): Promise<PluginScope<unknown, typeof A>> {
  const scopes: PluginScope<unknown, typeof A>[] = []
  const plugin = definePlugin({
    name: 'row',
    config: z.int(),
    provides: [A],
    activate(scope) {
      scopes.push(scope as unknown as PluginScope<unknown, typeof A>)
      scope.provide(A, 'value')
    },
  })
  const row = kernel.load(plugin, 1)
  await row.ready()
  if (end === 'reconfigure') await row.reconfigure(2)
  if (end === 'replace') await row.replace({ ...plugin }, 1)
  if (end === 'unload' || end === 'a provider that left') await row.unload()
  const [first] = scopes
  if (first === undefined) throw new Error('the row never ran')
  return first
}

describe('a scope of an older generation', () => {
  it.each(Object.entries(verbs).flatMap(([name, verb]) => (['reconfigure', 'replace', 'unload'] as const).map((end) => [name, end, verb] as const)))(
    'KN-33 refuses `%s` after %s',
    async (name, end, verb) => {
      await using kernel = new Kernel(quiet)
      undone.length = 0
      const scope = await oldScope(kernel, end)
      expect(() => verb(scope)).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
      await kernel.settled()
      await drained()
      emitter.emit('x')
      expect(undone).toEqual(name === 'defer' || name === 'use' ? [name] : [])
      expect(kernel.get(A)).toBe(end === 'unload' ? undefined : 'value')
      expect(emitter.listenerCount).toBe(0)
    },
  )

  it.each(Object.entries(verbs))('KN-33 so does the scope of a fork that is gone: `%s`', async (_, verb) => {
    await using kernel = new Kernel(quiet)
    let fork: PluginScope<unknown, typeof A> | undefined
    kernel.load(
      definePlugin({
        name: 'host',
        provides: [],
        activate: (scope) =>
          scope.inject([A], (inner) => {
            fork ??= inner as unknown as PluginScope<unknown, typeof A>
          }),
      }),
    )
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    await provider.replace(traced([], 'provider', { provides: [A] }))
    await kernel.settled()
    expect(() => fork !== undefined && verb(fork)).toThrow(expect.objectContaining({ code: 'SCOPE_CLOSED' }))
  })

  it('KN-33 an undo may still read the config, but registers nothing', async () => {
    await using kernel = new Kernel(quiet)
    const seen: unknown[] = []
    const row = kernel.load(
      definePlugin({
        name: 'row',
        config: z.string(),
        activate(scope) {
          scope.defer(() => {
            seen.push(scope.config)
            for (const register of [() => scope.inject([], () => undefined), () => scope.spawn(async () => undefined), () => scope.child('c')]) {
              try {
                register()
                seen.push('registered')
              } catch (error) {
                seen.push((error as { code: string }).code)
              }
            }
          })
        },
      }),
      'old',
    )
    await row.ready()
    await row.reconfigure('new')
    expect(seen).toEqual(['old', 'SCOPE_CLOSED', 'SCOPE_CLOSED', 'SCOPE_CLOSED'])
  })

  it('KN-33 numbers tell generations apart, also those that failed or were cancelled', async () => {
    await using kernel = new Kernel(quiet)
    const generations: number[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'phase' && event.phase === 'activating') generations.push(event.generation)
    })
    const up = new Gate()
    const row = kernel.load(traced([], 'row', { fails: (run) => run === 1 }))
    await kernel.settled()
    await row.reconfigure(undefined)
    const replacing = row.replace(traced([], 'row', { up }))
    await up.reached
    up.open()
    await replacing
    expect(generations).toEqual([1, 2, 3])
    expect(kernel.inspect().rows[0]?.generation).toBe(3)
  })

  it('KN-33 work of an old generation cannot close the new one', async () => {
    await using kernel = new Kernel(quiet)
    const scope = await oldScope(kernel, 'reconfigure')
    await scope.close()
    await kernel.settled()
    expect([kernel.row('row')?.phase, kernel.get(A)]).toEqual(['active', 'value'])
  })
})
