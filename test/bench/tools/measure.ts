import { measureInChild } from '../measuring/child.ts'
import { bash, idleCommands, realCommandHeap } from './commands.ts'
import { latency } from './following.ts'
import { crowds, foregroundHeap, keptRecords, overBareExecute } from './jobs.ts'
import { conversions, lookups, pipeline } from './pipeline.ts'
import { assembly } from './prompt.ts'

/** Values of one figure, by variant; those of the same index were measured one right after the other. */
export type Series = Readonly<Record<string, readonly number[]>>

const measurements = {
  pipeline,
  lookups,
  conversions,
  assembly,
  bash,
  realCommandHeap,
  idleCommands,
  overBareExecute,
  foregroundHeap,
  crowds,
  latency,
  keptRecords,
} satisfies Record<string, (...sizes: number[]) => Promise<Series>>

/** Runs a measurement in a process of its own. */
export function measure<N extends keyof typeof measurements>(name: N, ...sizes: Parameters<(typeof measurements)[N]>): Promise<Series> {
  return measureInChild<Series>(['in-child', name, ...sizes.map(String)])
}

/** What a child does. */
export async function inChild([name = '', ...sizes]: readonly string[]): Promise<Series> {
  const run = measurements[name as keyof typeof measurements] as (...sizes: number[]) => Promise<Series>
  return run(...sizes.map(Number))
}
