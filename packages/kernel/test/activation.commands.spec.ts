import { definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { phases } from './phases.ts'
import { quiet } from './quiet.ts'
import { A, B, traced } from './traced.ts'
import { unhandledDuring } from './unhandled.ts'

const numbered = (log: string[]): Plugin<number> =>
  definePlugin({
    name: 'row',
    config: z.int(),
    activate(scope) {
      const { config } = scope
      log.push(`up ${config}`)
      scope.defer(() => void log.push(`down ${config}`))
    },
  })

describe('commands to a row that is gone', () => {
  it.each(['in the tick of its removal', 'while it closes', 'after it has closed'])('KN-11 are refused %s, and bring nothing back', async (when) => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const down = new Gate()
    const row = kernel.load(numbered(log), 1)
    kernel.load(
      definePlugin({
        name: 'brake',
        activate: (scope) => scope.defer(() => down.pass()),
      }),
    )
    await kernel.settled()
    void kernel.row('brake')?.unload()
    const unloading = row.unload()
    if (when !== 'in the tick of its removal') await down.reached
    if (when === 'after it has closed') await drained()
    const answers = Promise.allSettled([row.ready(), row.reconfigure(2), row.replace(numbered(log), 3)])
    down.open()
    await unloading
    expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await row.unload()
    await kernel.settled()
    expect([log, row.phase, kernel.inspect().rows]).toEqual([['up 1', 'down 1'], 'unloaded', []])
  })

  it('KN-11 do not reach the row that has its id now', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const first = kernel.load(numbered(log), 1)
    await first.ready()
    await first.unload()
    const second = kernel.load(numbered(log), 2)
    await second.ready()
    await expect(first.reconfigure(9)).rejects.toBeInstanceOf(Error)
    await expect(first.replace(numbered(log), 9)).rejects.toBeInstanceOf(Error)
    await first.unload()
    await kernel.settled()
    expect([log, second.phase]).toEqual([['up 1', 'down 1', 'up 2'], 'active'])
  })
})

describe('commands given by a listener of the kernel’s own events', () => {
  it('KN-13 are taken like any other: a removal at `activating` undoes that activation', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'phase' && event.row === 'row' && event.phase === 'activating') void kernel.row('row')?.unload()
    })
    const row = kernel.load(traced(log, 'row', { provides: [A] }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    await kernel.settled()
    expect([row.phase, phases(kernel), log.filter((line) => line.startsWith('user'))]).toEqual(['unloaded', { user: 'waiting' }, []])
    expect([[], ['row up', 'row down']]).toContainEqual(log)
  })

  it('KN-13 a load at `active`, a reconfigure at `provided`, an unload at `failed` all come true', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'phase' && event.row === 'first' && event.phase === 'active')
        kernel.load(traced(log, 'second', { inject: [A], fails: () => true }))
      if (event.type === 'phase' && event.row === 'second' && event.phase === 'failed') void kernel.row('second')?.unload()
      if (event.type === 'provided' && kernel.row('row') === undefined) void kernel.load(numbered(log), 1)
      if (event.type === 'phase' && event.row === 'row' && event.phase === 'active' && event.generation === 1) void kernel.row('row')?.reconfigure(2)
    })
    kernel.load(traced(log, 'first', { provides: [A] }))
    await kernel.settled()
    expect(phases(kernel)).toEqual({ first: 'active', row: 'active' })
    expect(log.filter((line) => /\d$/.test(line) && !line.includes('#'))).toEqual(['up 1', 'down 1', 'up 2'])
    expect(log).toContain('second down')
  })

  it('KN-27 a refused `load` shows in no event, and leaves nothing behind', async () => {
    await using kernel = new Kernel(quiet)
    kernel.load(traced([], 'one', { inject: [A], provides: [B] }))
    await kernel.settled()
    const before = kernel.inspect()
    const events: unknown[] = []
    kernel.events.on(kernel.scope, (event) => void events.push(event))
    expect(() => kernel.load(traced([], 'two', { inject: [B], provides: [A] }))).toThrow(expect.objectContaining({ code: 'CAPABILITY_CYCLE' }))
    expect(() => kernel.load(traced([], 'one'))).toThrow(expect.objectContaining({ code: 'PLUGIN_LOADED_TWICE' }))
    await kernel.settled()
    expect([events, kernel.inspect()]).toEqual([[], before])
  })
})

describe('an activation', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('hostile')
      },
      'ACTIVATION_FAILED',
    ],
    ['never answers', () => undefined, 'ACTIVATION_TIMEOUT'],
  ])('KN-10 that returns a thenable whose `then` %s fails like any other', async (_, then, code) => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 20 } })
    const log: string[] = []
    const reasons = await unhandledDuring(async () => {
      const row = kernel.load(
        definePlugin({
          name: 'row',
          activate(scope) {
            scope.defer(() => void log.push('undone'))
            return { then } as unknown as Promise<void>
          },
        }),
      )
      await expect(row.ready()).rejects.toMatchObject({ code })
    })
    expect([log, reasons]).toEqual([['undone'], []])
  })

  it('KN-32 may wait for a kernel of its own: that is not itself', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 500 } })
    const log: string[] = []
    const row = kernel.load(
      definePlugin({
        name: 'nesting',
        async activate(scope) {
          const inner = scope.use(new Kernel(quiet))
          const innerRow = inner.load(numbered(log), 1)
          await innerRow.ready()
          await innerRow.reconfigure(2)
          await inner.settled()
          await inner.transaction((tx) => tx.load(traced(log, 'extra')))
          await innerRow.unload()
        },
      }),
    )
    await row.ready()
    expect(log).toEqual(['up 1', 'down 1', 'up 2', 'extra up', 'down 2'])
    await row.unload()
    expect(log.at(-1)).toBe('extra down')
    expect(kernel.inspect().rows).toEqual([])
  })

  it('KN-23 may keep a value later, from a handler: it lives as long as the row', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    let keepOne: (() => object) | undefined
    const row = kernel.load(
      definePlugin({
        name: 'keeper',
        config: z.int(),
        activate(scope) {
          keepOne = () => scope.keep({ key: 'k', version: 1, create: () => ({}), dispose: () => void log.push('disposed of') })
        },
      }),
      1,
    )
    await row.ready()
    const value = keepOne?.()
    await row.reconfigure(2)
    expect([keepOne?.() === value, log]).toEqual([true, []])
    await row.unload()
    expect(log).toEqual(['disposed of'])
  })
})
