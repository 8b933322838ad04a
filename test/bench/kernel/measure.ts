import { collectGarbage, measureInChild } from '../measuring/child.ts'
import { emitting, reading } from './calls.ts'
import { cordis } from './cordis.ts'
import { flipping } from './flips.ts'
import { tenon } from './tenon.ts'
import { type Figures, times, type WorkloadName, type Workloads } from './workloads.ts'

const systems: Readonly<Record<'tenon' | 'cordis', Workloads>> = { tenon, cordis }

/** The same workload of both systems, by turns, each in a process of its own; one value a run. */
export function alternately<F extends Figures>(workload: WorkloadName, count: number, runs: number): Promise<{ tenon: F[]; cordis: F[] }> {
  return byTurns({ tenon: ['tenon', count], cordis: ['cordis', count] }, workload, runs)
}

/** The same workload of Tenon in two sizes, likewise. */
export function inTwoSizes<F extends Figures>(workload: WorkloadName, few: number, many: number, runs: number): Promise<{ few: F[]; many: F[] }> {
  return byTurns({ few: ['tenon', few], many: ['tenon', many] }, workload, runs)
}

async function byTurns<V extends string, F extends Figures>(
  variants: Readonly<Record<V, readonly [system: keyof typeof systems, count: number]>>,
  workload: WorkloadName,
  runs: number,
): Promise<Record<V, F[]>> {
  const names = Object.keys(variants) as V[]
  const figures = Object.fromEntries(names.map((name) => [name, [] as F[]])) as Record<V, F[]>
  for (let run = 0; run < runs; run++) {
    for (const name of names) {
      const [system, count] = variants[name]
      figures[name].push(await measureInChild<F>(['in-child', system, workload, String(count)]))
    }
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
  /**
   * Microseconds per plugin of loading each of the counts. A round loads as many plugins of each: what interrupts a process on a busy
   * machine meets long measurements more often than short ones.
   */
  async loads([rounds = 0, ...counts]: readonly number[]): Promise<Series> {
    const series = Object.fromEntries(counts.map((count) => [count, [] as number[]]))
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const count of counts) {
        collectGarbage()
        let ms = 0
        const repetitions = Math.ceil(Math.max(...counts) / count)
        for (let repetition = 0; repetition < repetitions; repetition++) ms += (await tenon.load(count)).loadMs
        if (round >= 0) series[count]?.push((ms * 1000) / (count * repetitions))
      }
    }
    return series
  },

  /** Microseconds per dependent of flipping their provider, by `dependents+others`; the sizes come in such pairs. Rounds as above. */
  async flips([rounds = 0, ...sizes]: readonly number[]): Promise<Series> {
    const pairs = times(sizes.length / 2, (index): [number, number] => [sizes[2 * index] ?? 0, sizes[2 * index + 1] ?? 0])
    const most = Math.max(...pairs.map(([dependents]) => dependents))
    const compositions = []
    for (const [dependents, others] of pairs) {
      const repetitions = Math.ceil(most / dependents)
      compositions.push({ name: `${dependents}+${others}`, repetitions, values: [] as number[], ...(await flipping(dependents, others)) })
    }
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      for (const { values, repetitions, flip } of compositions) {
        collectGarbage()
        let microseconds = 0
        for (let repetition = 0; repetition < repetitions; repetition++) microseconds += await flip()
        if (round >= 0) values.push(microseconds / repetitions)
      }
    }
    for (const { close } of compositions) await close()
    return Object.fromEntries(compositions.map(({ name, values }) => [name, values]))
  },

  reading: ([rounds = 0, calls = 0]: readonly number[]): Promise<Series> => reading(rounds, calls),
  emitting: ([rounds = 0, calls = 0]: readonly number[]): Promise<Series> => emitting(rounds, calls),
}

const WARM_UP_ROUNDS = 5
