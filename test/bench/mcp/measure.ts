import { measureInChild } from '../measuring/child.ts'
import { pages, resources } from './following.ts'
import { atOnce, roundTrips } from './round-trips.ts'

/** Values of one figure, by variant; those of the same index were measured one right after the other. */
export type Series = Readonly<Record<string, readonly number[]>>

const measurements = { roundTrips, atOnce, pages, resources } satisfies Record<string, (rounds: number, size: number) => Promise<Series>>

/** Runs a measurement with a client in a process of its own. */
export function measure(name: keyof typeof measurements, rounds: number, size: number): Promise<Series> {
  return measureInChild<Series>(['in-child', name, String(rounds), String(size)])
}

/** What a child does. */
export async function inChild([name = '', ...sizes]: readonly string[]): Promise<Series> {
  const [rounds = 0, size = 0] = sizes.map(Number)
  return measurements[name as keyof typeof measurements](rounds, size)
}
