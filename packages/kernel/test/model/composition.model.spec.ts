import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { play } from './play.ts'
import { scenarios } from './scenario.ts'

/** How many scenarios: 10,000 where it is proven, a million in a soak, fewer while one works. */
const RUNS = Number(process.env.TENON_MODEL_RUNS ?? 2000)
/** Where the generator starts; a failure prints the seed and path that lead back to it. */
const SEED = process.env.TENON_MODEL_SEED === undefined ? {} : { seed: Number(process.env.TENON_MODEL_SEED) }
const PATH = process.env.TENON_MODEL_PATH === undefined ? {} : { path: process.env.TENON_MODEL_PATH }

describe('the kernel and its model', () => {
  it('KN-36 agree on random compositions, delays, failures and commands', { timeout: 60_000 + RUNS * 50 }, async () => {
    const started = performance.now()
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => play(scenario)),
      { numRuns: RUNS, ...SEED, ...PATH, endOnFailure: false },
    )
    expect(performance.now()).toBeGreaterThan(started)
  })
})
