import { measureInChild } from '../measuring/child.ts'
import { floods } from './floods.ts'
import { idle, reads, treeKills } from './rests.ts'
import { latencies, throughputs } from './starts.ts'

const measurements = {
  programs: (rounds: number) => latencies('programs', rounds),
  shells: (rounds: number) => latencies('shells', rounds),
  throughputs,
  ...floods,
  idleSubprocess: (count: number, ms: number) => idle('subprocess', count, ms),
  idleShell: (count: number, ms: number) => idle('shell', count, ms),
  treeKills,
  reads,
} as const

type Measurements = typeof measurements
export type MeasurementName = keyof Measurements

/** Takes one measurement in a process of its own. */
export function measure<N extends MeasurementName>(name: N, ...sizes: Parameters<Measurements[N]>): Promise<Awaited<ReturnType<Measurements[N]>>> {
  return measureInChild(['in-child', name, ...sizes.map(String)])
}

/** What a child does. */
export function inChild([name = '', ...sizes]: readonly string[]): Promise<unknown> {
  const measurement = measurements[name as MeasurementName] as ((...sizes: number[]) => Promise<unknown>) | undefined
  if (measurement === undefined) throw new Error(`no measurement ${JSON.stringify(name)}`)
  return measurement(...sizes.map(Number))
}
