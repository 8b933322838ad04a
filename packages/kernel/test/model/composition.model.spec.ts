import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bootOutcome } from './boot.ts'
import { play } from './play.ts'
import { type Scenario, type Shape, scenarios } from './scenario.ts'

/** How many scenarios: 10,000 where it is proven, a million in a soak, fewer while one works. */
const RUNS = Number(process.env.TENON_MODEL_RUNS ?? 1500)
if (!Number.isSafeInteger(RUNS) || RUNS < 1) throw new Error(`TENON_MODEL_RUNS is ${process.env.TENON_MODEL_RUNS}; it must be a positive integer`)
/** A failure prints the seed and the path that lead back to it. Whoever only wants to know whether there is one can do without shrinking. */
const { TENON_MODEL_SEED: SEED, TENON_MODEL_PATH: PATH, TENON_MODEL_SHRINK: SHRINK } = process.env
const REPLAY = { endOnFailure: SHRINK === '0', ...(SEED === undefined ? {} : { seed: Number(SEED) }), ...(PATH === undefined ? {} : { path: PATH }) }
const TIMEOUT = { timeout: 60_000 + RUNS * 100 }

function bootOf({ rows, boot }: Scenario): Parameters<typeof bootOutcome>[0] {
  return boot.flatMap(({ row, code, config }) => {
    const shape = rows[row]
    return shape === undefined ? [] : [{ shape, wish: { code: shape.codes[code], config } }]
  })
}

function quick(code: Shape): Shape {
  const pace = { up: false, down: false }
  return { ...code, pace, forks: code.forks.map((fork) => ({ ...fork, pace, inner: fork.inner && { ...fork.inner, pace } })) }
}

describe('the kernel and its model', () => {
  it('KN-36 agree on random compositions, delays, failures and commands', TIMEOUT, async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, (scenario) => play(scenario)),
      { numRuns: RUNS, ...REPLAY },
    )
  })

  it('KN-36 who gets a contested capability at boot is a matter of load order and needs, not of timing', TIMEOUT, async () => {
    await fc.assert(
      fc.asyncProperty(
        scenarios.filter(({ contested }) => contested),
        async (scenario) => {
          const composition = bootOf(scenario)
          const expected = await bootOutcome(composition, [])
          expect(await bootOutcome(composition, scenario.order)).toEqual(expected)
          const quickly = composition.map(({ shape, wish }) => ({ shape, wish: { ...wish, code: quick(wish.code) } }))
          expect(await bootOutcome(quickly, [])).toEqual(expected)
        },
      ),
      { numRuns: Math.ceil(RUNS / 3), ...REPLAY },
    )
  })
})
