import { summarize } from '../measuring/statistics.ts'
import { openTenon, programs, type Run, shells } from './systems.ts'

/** By system: the median of each round, and all single values. */
export type Latencies = Readonly<Record<string, { readonly rounds: number[]; readonly all: number[] }>>

const CALLS_PER_ROUND = 20

/** Milliseconds from the call to the outcome, the systems by turns: whatever else the machine does meets all of them. */
export async function latencies(what: 'programs' | 'shells', rounds: number): Promise<Latencies> {
  await using tenon = await openTenon()
  const systems = Object.entries(what === 'programs' ? programs(tenon) : shells(tenon))
  for (let call = 0; call < 20; call++) for (const [, run] of systems) await run()
  const series = Object.fromEntries(systems.map(([name]) => [name, { rounds: [] as number[], all: [] as number[] }]))
  for (let round = 0; round < rounds; round++) {
    const values = Object.fromEntries(systems.map(([name]) => [name, [] as number[]]))
    for (let call = 0; call < CALLS_PER_ROUND; call++) for (const [name, run] of systems) values[name]?.push(await milliseconds(run))
    for (const [name, of] of Object.entries(values)) {
      series[name]?.rounds.push(summarize(of).median)
      series[name]?.all.push(...of)
    }
  }
  return series
}

/** Programs per second, 16 at a time; one value a round. */
export async function throughputs(count: number, rounds: number): Promise<Readonly<Record<string, number[]>>> {
  await using tenon = await openTenon()
  const systems = Object.entries({ ...programs(tenon), ...prefixed('shell: ', shells(tenon)) })
  const series = Object.fromEntries(systems.map(([name]) => [name, [] as number[]]))
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of systems) {
      let left = count
      const work = async (): Promise<void> => {
        while (left-- > 0) await run()
      }
      const ms = await milliseconds(() => Promise.all(Array.from({ length: 16 }, work)))
      if (round >= 0) series[name]?.push((count / ms) * 1_000)
    }
  }
  return series
}

function prefixed(prefix: string, runs: Readonly<Record<string, Run>>): Record<string, Run> {
  return Object.fromEntries(Object.entries(runs).map(([name, run]) => [prefix + name, run]))
}

async function milliseconds(run: Run): Promise<number> {
  const began = performance.now()
  await run()
  return performance.now() - began
}
