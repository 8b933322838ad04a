import { collectGarbage, measureInChild } from '../measuring/child.ts'
import { emitting, reading } from './calls.ts'
import { cordis } from './cordis.ts'
import { flipping } from './flips.ts'
import { tenon } from './tenon.ts'
import { type Figures, times, type WorkloadName, type Workloads } from './workloads.ts'

const systems: Readonly<Record<'tenon' | 'cordis', Workloads>> = { tenon, cordis }

/** The same workload of both systems, by turns, each in a process of its own; one value a run. */
export async function alternately<F extends Figures>(workload: WorkloadName, count: number, runs: number): Promise<{ tenon: F[]; cordis: F[] }> {
  const figures: { tenon: F[]; cordis: F[] } = { tenon: [], cordis: [] }
  for (let run = 0; run < runs; run++) {
    for (const system of ['tenon', 'cordis'] as const) figures[system].push(await measureInChild<F>(['in-child', system, workload, String(count)]))
  }
  return figures
}

/** Values of one figure, by variant; those of the same index were measured one right after the other. */
export type Series = Readonly<Record<string, readonly number[]>>

/** Runs a measurement of many rounds in a process of its own. */
export function warm(name: keyof typeof warmMeasurements, sizes: readonly number[]): Promise<Series> {
  return measureInChild<Series>(['in-child', 'warm', name, ...sizes.map(String)])
}

/** What a child does. */
export async function inChild([system = '', name = '', ...sizes]: readonly string[]): Promise<Figures | Series> {
  const numbers = sizes.map(Number)
  if (system === 'warm') return warmMeasurements[name as keyof typeof warmMeasurements](numbers)
  return systems[system as keyof typeof systems][name as WorkloadName](numbers[0] ?? 0)
}

const warmMeasurements = {
  /** Microseconds per plugin of loading each of the counts. */
  async loads([rounds = 0, ...counts]: readonly number[]): Promise<Series> {
    const series = Object.fromEntries(counts.map((count) => [count, [] as number[]]))
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const count of counts) {
        collectGarbage()
        const { loadMs } = await tenon.load(count)
        if (round >= 0) series[count]?.push((loadMs * 1000) / count)
      }
    }
    return series
  },

  /** Microseconds per dependent of flipping their provider, by `dependents+others`; the sizes come in such pairs. */
  async flips([rounds = 0, ...sizes]: readonly number[]): Promise<Series> {
    const pairs = times(sizes.length / 2, (index): [number, number] => [sizes[2 * index] ?? 0, sizes[2 * index + 1] ?? 0])
    const compositions = []
    for (const [dependents, others] of pairs) {
      compositions.push({ name: `${dependents}+${others}`, values: [] as number[], ...(await flipping(dependents, others)) })
    }
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const { values, flip } of compositions) {
        collectGarbage()
        const microseconds = await flip()
        if (round >= 0) values.push(microseconds)
      }
    }
    for (const { close } of compositions) await close()
    return Object.fromEntries(compositions.map(({ name, values }) => [name, values]))
  },

  reading: ([rounds = 0, calls = 0]: readonly number[]): Promise<Series> => reading(rounds, calls),
  emitting: ([rounds = 0, calls = 0]: readonly number[]): Promise<Series> => emitting(rounds, calls),
}

const WARM_UP_ROUNDS = 5
