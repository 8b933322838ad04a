import { describe, expect, it } from 'vitest'
import { runShards, type Shard, type ShardResult, shardsOf } from './soak/shards/run-shards.ts'

describe('the shards of a soak', () => {
  it('hold all of its runs, each with a seed of its own', () => {
    expect(shardsOf(25, 10, 7)).toEqual([
      { seed: 7, runs: 10 },
      { seed: 8, runs: 10 },
      { seed: 9, runs: 5 },
    ])
  })

  it('of a longer soak begin like those of a shorter one', () => {
    expect(shardsOf(40, 10, 7).slice(0, 2)).toEqual(shardsOf(20, 10, 7))
  })

  it('run so many at a time, each once', async () => {
    const seen: number[] = []
    const counts: number[] = []
    let running = 0
    let most = 0
    const run = async ({ seed }: Shard): Promise<ShardResult> => {
      seen.push(seed)
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      return { passed: true }
    }
    const result = await runShards(shardsOf(70, 10, 1), 3, run, (runs) => counts.push(runs))
    expect(result).toEqual({ runs: 70 })
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(counts).toEqual([10, 20, 30, 40, 50, 60, 70])
    expect(most).toBe(3)
  })

  it('end with the first that fails: the others are aborted and awaited, none is begun', async () => {
    const begun: number[] = []
    let aborted = 0
    const run = ({ seed }: Shard, signal: AbortSignal): Promise<ShardResult> => {
      begun.push(seed)
      if (seed === 1) return Promise.resolve({ passed: false, output: 'they disagree' })
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted++
          resolve({ passed: false, output: 'was ended' })
        })
      })
    }
    const result = await runShards(shardsOf(50, 10, 1), 2, run)
    expect(result).toEqual({ runs: 0, failure: { shard: { seed: 1, runs: 10 }, output: 'they disagree' } })
    expect(begun).toEqual([1, 2])
    expect(aborted).toBe(1)
  })
})
