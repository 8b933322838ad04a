import { collectGarbage } from '../measuring/child.ts'
import { stopwatch } from '../measuring/clock.ts'

const WARM_UP_ROUNDS = 5

/**
 * Microseconds per call, one value a round; the variants of a round run one after the other. By default on the clock of the main thread,
 * which is good to some milliseconds: rounds have to be long.
 */
export async function perCall<V extends string>(
  rounds: number,
  calls: number,
  variants: Record<V, (calls: number) => unknown>,
  start: () => () => number = stopwatch,
): Promise<Record<V, number[]>> {
  const names = Object.keys(variants) as V[]
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<V, number[]>
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const name of names) {
      const elapsed = start()
      await variants[name](calls)
      if (round >= 0) measured[name].push((elapsed() * 1_000) / calls)
    }
  }
  return measured
}

/** Kibibytes of heap that so many more calls leave behind, when as many warm-up calls as say so were made before. */
export async function leftByCalls(warmUp: number, count: number, call: () => Promise<unknown>): Promise<number> {
  for (let made = 0; made < warmUp; made++) await call()
  const before = await heapBytes()
  for (let made = 0; made < count; made++) await call()
  return ((await heapBytes()) - before) / 1_024
}

/** After what is due has run, and the rest has been collected. */
export async function heapBytes(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  return process.memoryUsage().heapUsed
}
