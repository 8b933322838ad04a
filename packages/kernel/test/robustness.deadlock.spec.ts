import { definePlugin, Kernel, type PluginScope, type Row } from '@tenon/kernel'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, traced } from './traced.ts'
import { unhandledDuring } from './unhandled.ts'

type Verb = (kernel: Kernel, row: Row, scope: PluginScope) => Promise<unknown>

const replacement = definePlugin({ name: 'replacement', config: z.int(), activate: () => undefined })

const verbs: Record<string, Verb> = {
  settled: (kernel) => kernel.settled(),
  ready: (_, row) => row.ready(),
  unload: (_, row) => row.unload(),
  reconfigure: (_, row) => row.reconfigure(2),
  replace: (_, row) => row.replace(replacement, 2),
  transaction: (kernel) => kernel.transaction((tx) => tx.load(traced([], 'extra'))),
  'close of the kernel': (kernel) => kernel.close(),
  'close of its scope': (_, __, scope) => scope.close(),
}

const places = ['activation', 'fork body', 'undo', 'spawned work', 'undo of a child', 'spawned work of a fork'] as const
type Place = (typeof places)[number]

/** Runs the verb in the place, once, and gives back what it answered. */
async function attempt(kernel: Kernel, place: Place, verb: Verb, how: 'awaited' | 'after a pause' | 'not awaited'): Promise<unknown> {
  let answer: unknown = 'never came'
  const answered = new Gate()
  let tried = false
  const act = async (scope: PluginScope): Promise<void> => {
    if (tried) return
    tried = true
    if (how === 'after a pause') await drained(2)
    const row = kernel.row('subject') ?? subject
    const asked = verb(kernel, row, scope)
    if (how !== 'not awaited') {
      answer = await asked.then(
        () => 'resolved',
        (error: { code?: string }) => error.code,
      )
    }
    answered.open()
  }
  const subject: Row = kernel.load(
    definePlugin({
      name: 'subject',
      config: z.int(),
      activate(scope): void | Promise<void> {
        if (place === 'activation') return act(scope)
        if (place === 'fork body') scope.inject([A], (fork) => act(fork))
        if (place === 'undo') scope.defer(() => act(scope))
        if (place === 'undo of a child') scope.child('child').defer(() => act(scope))
        if (place === 'spawned work') scope.spawn(() => act(scope))
        if (place === 'spawned work of a fork') scope.inject([A], (fork) => fork.spawn(() => act(fork)))
      },
    }),
    1,
  )
  kernel.load(traced([], 'provider', { provides: [A] }))
  if (place.startsWith('undo')) {
    await kernel.settled()
    void subject.unload().catch(() => undefined)
  }
  await answered.pass()
  return answer
}

const table = Object.entries(verbs).flatMap(([name, verb]) => places.map((place) => [name, place, verb] as const))

describe('waiting for oneself', () => {
  it.each(table)('KN-32 `%s` awaited in its own %s is refused', async (_, place, verb) => {
    let answer: unknown
    const reasons = await unhandledDuring(async () => {
      await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 300, undoMs: 300 } })
      answer = await attempt(kernel, place, verb, 'awaited')
    })
    expect([answer, reasons]).toEqual(['WOULD_DEADLOCK', []])
  })

  it.each(table.filter(([, place]) => !place.startsWith('spawned')))(
    'KN-32 `%s` awaited in its own %s after a pause is refused',
    async (_, place, verb) => {
      await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 300, undoMs: 300 } })
      expect(await attempt(kernel, place, verb, 'after a pause')).toBe('WOULD_DEADLOCK')
    },
  )

  it.each(table)('KN-32 `%s` asked for in its own %s without awaiting stands, and nothing shows as unhandled', async (name, place, verb) => {
    const reasons = await unhandledDuring(async () => {
      await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 300, undoMs: 300 } })
      await attempt(kernel, place, verb, 'not awaited')
      await drained()
      if (name === 'close of the kernel') return
      await kernel.settled()
      const row = kernel.row('subject')
      const report = kernel.inspect().rows.find(({ id }) => id === 'subject')
      if (place.startsWith('undo') || name === 'unload') expect(row).toBeUndefined()
      else if (name === 'close of its scope') expect(row === undefined).toBe(place !== 'fork body' && place !== 'spawned work of a fork')
      else expect(row?.phase).toBe('active')
      if (name === 'replace' && row !== undefined) expect(row.name).toBe('replacement')
      if (name === 'reconfigure' && row !== undefined) expect(report?.generation).toBe(2)
      if (name === 'transaction') expect(kernel.row('extra')?.phase).toBe('active')
    })
    expect(reasons).toEqual([])
  })

  it('KN-32 the row that hangs on itself is not hung: it ends with the refusal as its failure', async () => {
    await using kernel = new Kernel(quiet)
    const row = kernel.load(
      definePlugin({
        name: 'selfish',
        async activate() {
          await kernel.settled()
        },
      }),
    )
    await expect(row.ready()).rejects.toMatchObject({ code: 'ACTIVATION_FAILED', cause: { code: 'WOULD_DEADLOCK' } })
  })
})

describe('what an activation, a body or an undo started and left running', () => {
  it.each(Object.entries(verbs).flatMap(([name, verb]) => (['activation', 'fork body'] as const).map((place) => [name, place, verb] as const)))(
    'KN-32 may await `%s` after its %s has ended',
    async (_, place, verb) => {
      await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 300, undoMs: 300 } })
      const gate = new Gate()
      let later: Promise<unknown> = Promise.resolve()
      const row = kernel.load(
        definePlugin({
          name: 'subject',
          config: z.int(),
          activate(scope) {
            const start = (inner: PluginScope): void => {
              if (scope.config === 1) later = gate.pass().then(() => verb(kernel, row, inner))
            }
            if (place === 'activation') start(scope)
            else scope.inject([], start)
          },
        }),
        1,
      )
      await kernel.settled()
      gate.open()
      await later
      await kernel.settled()
    },
  )

  it.each(Object.entries(verbs))('KN-32 may await `%s` after the undo has ended', async (_, verb) => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 300, undoMs: 300 } })
    const gate = new Gate()
    let later: Promise<unknown> = Promise.resolve()
    const row = kernel.load(
      definePlugin({
        name: 'subject',
        config: z.int(),
        activate: (scope) =>
          scope.defer(() => {
            later = gate.pass().then(() => verb(kernel, row, scope))
          }),
      }),
      1,
    )
    await row.ready()
    await row.unload()
    gate.open()
    const code = await later.then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
    expect(code).not.toBe('WOULD_DEADLOCK')
  })

  it('KN-32 may wait while another row is in transition, for that is not itself', async () => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 1000 } })
    const up = new Gate()
    const gate = new Gate()
    let later: Promise<unknown> = Promise.resolve()
    kernel.load(
      definePlugin({
        name: 'subject',
        activate() {
          later = gate.pass().then(() => kernel.settled())
        },
      }),
    )
    await kernel.settled()
    kernel.load(traced([], 'slow', { up }))
    await up.reached
    gate.open()
    await drained()
    up.open()
    await later
  })
})

describe('verbs of a row that does not wait for the caller', () => {
  it.each(['unload', 'reconfigure with an equal config', 'reconfigure'])('KN-32 `%s` of an unrelated row from an activation ends', async (verb) => {
    await using kernel = new Kernel({ ...quiet, budgets: { activationMs: 400 } })
    const other = kernel.load(definePlugin({ name: 'other', config: z.int(), activate: () => undefined }), 1)
    await other.ready()
    let answer: unknown
    const row = kernel.load(
      definePlugin({
        name: 'caller',
        async activate() {
          const asked = verb === 'unload' ? other.unload() : other.reconfigure(verb === 'reconfigure' ? 2 : 1)
          answer = await asked.then(
            () => 'resolved',
            (error: { code?: string }) => error.code,
          )
        },
      }),
    )
    await row.ready()
    expect(['resolved', 'WOULD_DEADLOCK']).toContain(answer)
    if (verb === 'unload') expect(answer).toBe('resolved')
  })
})

describe('waiting for what waits for the caller', () => {
  it('KN-32 a provider that reconfigures, from its activation, the row that waits for it', async () => {
    await using kernel = new Kernel(quiet)
    let answer: unknown
    const seen: number[] = []
    const consumer = definePlugin({ name: 'consumer', inject: [A], config: z.int(), activate: ({ config }) => void seen.push(config) })
    const provider = definePlugin({
      name: 'provider',
      provides: [A],
      async activate(scope) {
        scope.provide(A, 'a')
        await drained(1)
        answer = await kernel
          .row('consumer')
          ?.reconfigure(2)
          .catch((error: unknown) => error)
      },
    })
    kernel.load(consumer, 1)
    await kernel.load(provider).ready()
    expect(answer).toMatchObject({ code: 'WOULD_DEADLOCK', message: expect.stringContaining('"consumer"') })
    await kernel.settled()
    expect(seen).toEqual([2])
  })

  it('KN-32 an undo of a row that is going already, which unloads the provider it is bound to', async () => {
    await using kernel = new Kernel(quiet)
    let answer: unknown
    const provider = kernel.load(traced([], 'provider', { provides: [A] }))
    const consumer = kernel.load(
      definePlugin({
        name: 'consumer',
        inject: [A],
        activate(scope) {
          scope.defer(async () => {
            answer = await provider.unload().catch((error: unknown) => error)
          })
        },
      }),
    )
    await consumer.ready()
    await consumer.unload()
    expect(answer).toMatchObject({ code: 'WOULD_DEADLOCK' })
    await kernel.settled()
    expect(provider.phase).toBe('unloaded')
  })
})
