import { definePlugin, type KeepSpec, Kernel, type PluginScope } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'

const failing = (gate: Gate) =>
  definePlugin({
    name: 'failing',
    async activate() {
      await gate.pass()
      throw new Error('it fails')
    },
  })

const slow = (gate: Gate) => definePlugin({ name: 'slow', activate: () => gate.pass() })

describe('one value, kept by two forks of a row', () => {
  it.each(['comes up later', 'is up before that'])('KN-23 stays when the fork that made it fails, and the other %s', async (how) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const [first, second] = [new Gate(), new Gate()]
    const spec: KeepSpec<string> = {
      key: 'state',
      version: 1,
      create: () => {
        log.push('create')
        return 'the value'
      },
      dispose: () => void log.push('dispose'),
    }
    const row = kernel.load(
      definePlugin({
        name: 'a',
        activate(scope) {
          scope.inject([A], async (fork) => {
            fork.keep(spec)
            await first.pass()
            throw new Error('it fails')
          })
          scope.inject([A], async (fork) => {
            fork.keep(spec)
            await second.pass()
          })
        },
      }),
    )
    kernel.load(traced([], 'provider', { provides: [A] }))
    await Promise.all([first.reached, second.reached])
    const gates = how === 'comes up later' ? [first, second] : [second, first]
    for (const gate of gates) {
      gate.open()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await kernel.settled()
    const report = kernel.inspect().rows.find(({ id }) => id === 'a')
    expect([report?.forks.map(({ phase }) => phase), report?.kept, log]).toEqual([['failed', 'active'], ['state'], ['create']])
    await row.unload()
    expect(log).toEqual(['create', 'dispose'])
  })
})

describe('what is kept while a transaction is not verified yet', () => {
  it('KN-23 a row that is reconfigured before the end of the transaction it came with goes on with its value', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gate = new Gate()
    const counting = definePlugin({
      name: 'counting',
      config: z.int(),
      activate(scope) {
        const keep = (key: string): unknown =>
          scope.keep({
            key,
            version: 1,
            create: () => {
              log.push(`create ${key}`)
              return key
            },
            dispose: () => void log.push(`dispose ${key}`),
          })
        keep('one')
        if (scope.config === 2) keep('two')
        log.push(`active ${scope.config}`)
      },
    })
    const transaction = kernel.transaction((tx) => {
      tx.load(counting, 1)
      tx.load(slow(gate))
    })
    await gate.reached
    const row = kernel.row('counting')
    const reconfigured = row?.reconfigure(2)
    gate.open()
    await Promise.all([transaction, reconfigured])
    expect(log).toEqual(['create one', 'active 1', 'create two', 'active 2'])
    await row?.unload()
    expect(log.slice(4)).toEqual(['dispose two', 'dispose one'])
  })

  it('KN-24 what a row keeps late, when it is active already, does not end what it may have to get back', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gate = new Gate()
    let scopeOfNew: PluginScope | undefined
    const keeping = (scope: PluginScope, key: string, version: number): unknown =>
      scope.keep({ key, version, create: () => `${key} ${version}`, dispose: (value) => void log.push(`dispose ${value}`) })
    const of = (version: number) =>
      definePlugin({
        name: 'a',
        activate(scope) {
          log.push(`active with ${String(keeping(scope, 'state', version))}`)
          if (version === 2) scopeOfNew = scope
        },
      })
    await kernel.load(of(1)).ready()
    const transaction = kernel.transaction((tx) => {
      tx.replace('a', of(2))
      tx.load(failing(gate))
    })
    await gate.reached
    if (scopeOfNew === undefined) throw new Error('the new code is not active')
    keeping(scopeOfNew, 'late', 1)
    gate.open()
    expect((await transaction).outcome).toBe('rolled-back')
    expect(log).toEqual(['active with state 1', 'active with state 2', 'dispose late 1', 'dispose state 2', 'active with state 1'])
    expect(kernel.inspect().rows[0]?.kept).toEqual(['state'])
  })
})
