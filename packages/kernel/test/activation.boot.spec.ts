import { type Capability, capability, definePlugin, Kernel, type Plugin } from '@tenon/kernel'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { drained } from './drained.ts'
import { Gate } from './gate.ts'
import { quiet } from './quiet.ts'
import { A, B, C, traced } from './traced.ts'

const TOKENS: readonly Capability<number>[] = Array.from({ length: 10 }, (_, i) => capability<number>(`node-${i}`))

/** Node `i` provides the i-th token and needs some of those before it. */
function graphNode(
  index: number,
  needs: readonly number[],
  hops: number,
  started: (index: number, values: readonly number[]) => void,
): Plugin<undefined> {
  return definePlugin({
    name: `node-${index}`,
    inject: needs.flatMap((need) => TOKENS[need] ?? []),
    provides: TOKENS.slice(index, index + 1),
    async activate(scope, ...values) {
      started(index, values)
      for (let hop = 0; hop < hops; hop++) await Promise.resolve()
      for (const token of TOKENS.slice(index, index + 1)) scope.provide(token, index)
    },
  })
}

const graphs = fc.integer({ min: 1, max: 10 }).chain((size) =>
  fc.record({
    order: fc.shuffledSubarray(
      Array.from({ length: size }, (_, i) => i),
      { minLength: size },
    ),
    nodes: fc.tuple(
      ...Array.from({ length: size }, (_, index) =>
        fc.record({ needs: fc.subarray(Array.from({ length: index }, (_, i) => i)), hops: fc.integer({ min: 0, max: 4 }) }),
      ),
    ),
  }),
)

describe('boot', () => {
  it('KN-06 whatever the load order, each row of an acyclic graph activates exactly once, after everything it needs', async () => {
    await fc.assert(
      fc.asyncProperty(graphs, async ({ order, nodes }) => {
        await using kernel = new Kernel(quiet)
        const starts: number[] = []
        for (const index of order) {
          const { needs, hops } = nodes[index] ?? { needs: [], hops: 0 }
          kernel.load(
            graphNode(index, needs, hops, (node, values) => {
              starts.push(node)
              expect(values).toEqual(needs)
            }),
          )
        }
        await kernel.settled()
        expect(starts.toSorted((a, b) => a - b)).toEqual(nodes.map((_, index) => index))
        expect(kernel.inspect().rows.map(({ phase, generation }) => [phase, generation])).toEqual(nodes.map(() => ['active', 1]))
      }),
      { numRuns: 60 },
    )
  })

  it('KN-06 rows that do not need each other activate at the same time', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gates = [new Gate(), new Gate(), new Gate()]
    gates.forEach((up, i) => {
      kernel.load(traced(log, `row-${i}`, { up }))
    })
    await Promise.all(gates.map(({ reached }) => reached))
    expect(log).toEqual(['row-0 up', 'row-1 up', 'row-2 up'])
    for (const gate of gates) gate.open()
    await kernel.settled()
  })

  it('KN-06 rows that become ready together start in load order', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    for (const name of ['third', 'first', 'second']) kernel.load(traced(log, name, { inject: [A] }))
    kernel.load(traced(log, 'provider', { provides: [A], up }))
    await up.reached
    up.open()
    await kernel.settled()
    expect(log).toEqual(['provider up', 'third up provider#1', 'first up provider#1', 'second up provider#1'])
  })

  it('KN-06 a row that becomes ready does not wait for an unrelated one that is still activating', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const slow = new Gate()
    kernel.load(traced(log, 'slow', { up: slow }))
    kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(traced(log, 'provider', { provides: [A] }))
    await slow.reached
    await drained()
    expect(log).toEqual(['slow up', 'provider up', 'user up provider#1'])
    slow.open()
    await kernel.settled()
  })
})

describe('offers', () => {
  it('KN-07 are invisible until `activate` has settled, then visible together', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const gate = new Gate()
    const provided: string[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'provided') provided.push(`${event.capability} (a: ${kernel.get(A)}, b: ${kernel.get(B)})`)
    })
    kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(
      definePlugin({
        name: 'provider',
        provides: [A, B],
        async activate(scope) {
          scope.provide(A, 'early')
          await gate.pass()
          scope.provide(B, 'late')
        },
      }),
    )
    await gate.reached
    await drained()
    expect([kernel.get(A), log, kernel.inspect().provisions]).toEqual([undefined, [], expect.not.objectContaining({ a: 'provider' })])
    gate.open()
    await kernel.settled()
    expect([kernel.get(A), kernel.get(B), log]).toEqual(['early', 'late', ['user up early']])
    expect(provided).toEqual(['a (a: early, b: late)', 'b (a: early, b: late)'])
  })

  it('KN-07 of an activation that throws after `provide` are seen by nobody', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const provided: string[] = []
    kernel.events.on(kernel.scope, (event) => {
      if (event.type === 'provided') provided.push(event.capability)
    })
    kernel.load(traced(log, 'user', { inject: [A] }))
    kernel.load(
      definePlugin({
        name: 'provider',
        inject: [],
        provides: [A],
        activate(scope) {
          scope.provide(A, 'phantom')
          scope.inject([A], () => void log.push('fork saw it'))
          throw new Error('too late')
        },
      }),
    )
    await kernel.settled()
    expect([log, provided, kernel.get(A), kernel.inspect().provisions.a]).toEqual([[], [], undefined, undefined])
  })

  it('KN-07 that are not declared, or come after the activation, are refused with a reason', async () => {
    await using kernel = new Kernel(quiet)
    let later: (() => void) | undefined
    const codes: unknown[] = []
    kernel.load(
      definePlugin({
        name: 'provider',
        provides: [A],
        activate(scope) {
          later = () => scope.provide(A, 'late')
          const untyped = scope as unknown as { provide(token: Capability<string>, value: string): void }
          try {
            untyped.provide(B, 'undeclared')
          } catch (error) {
            codes.push(error)
          }
        },
      }),
    )
    await kernel.settled()
    expect(codes).toEqual([expect.objectContaining({ code: 'OFFER_UNDECLARED', message: expect.stringMatching(/provider.*b|b.*provider/) })])
    expect(later).toThrow(expect.objectContaining({ code: 'OFFER_TOO_LATE' }))
    expect(kernel.get(A)).toBeUndefined()
  })

  it('KN-08 a dependent starts only after its slow provider is active', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const up = new Gate()
    const user = kernel.load(traced(log, 'user', { inject: [A] }))
    const provider = kernel.load(traced(log, 'provider', { provides: [A], up }))
    await up.reached
    await drained()
    expect([log, user.phase, provider.phase]).toEqual([['provider up'], 'waiting', 'activating'])
    up.open()
    await user.ready()
    expect([log, user.phase, provider.phase]).toEqual([['provider up', 'user up provider#1'], 'active', 'active'])
  })

  it('KN-08 a row that needs two providers waits for the slower one', async () => {
    await using kernel = new Kernel(quiet)
    const log: string[] = []
    const [slow, slower] = [new Gate(), new Gate()]
    kernel.load(traced(log, 'user', { inject: [A, B, C] }))
    kernel.load(traced(log, 'one', { provides: [A, C], up: slow }))
    kernel.load(traced(log, 'two', { provides: [B], up: slower }))
    slow.open()
    await slower.reached
    await drained()
    expect(log).toEqual(['one up', 'two up'])
    slower.open()
    await kernel.settled()
    expect(log.at(-1)).toBe('user up one#1 two#1 one#1')
  })
})
