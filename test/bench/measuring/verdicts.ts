import type { Finding } from './report.ts'
import { pairedRatios, summarize } from './statistics.ts'

/** A median below a bound, in the unit of the sample. */
export function below(bound: number, unit: string, what: string, sample: readonly number[]): Finding {
  const measured = summarize(sample)
  return { what, measured, unit, target: { text: `< ${bound.toLocaleString('en')} ${unit}`, met: measured.median < bound } }
}

/** At most so many times as much; the values of both samples were measured in pairs. */
export function atMostTimes(bound: number, what: string, dividends: readonly number[], divisors: readonly number[]): Finding {
  const measured = summarize(pairedRatios(dividends, divisors))
  return { what, measured, unit: 'x', target: { text: `≤ ${bound}x`, met: measured.median <= bound } }
}

/** A count that has to be exactly this. */
export function exactly(wanted: number, unit: string, what: string, sample: readonly number[]): Finding {
  return { what, measured: summarize(sample), unit, target: { text: `= ${wanted}`, met: sample.every((count) => count === wanted) } }
}

/** A figure that nothing was promised of. */
export function told(what: string, sample: readonly number[], unit: string): Finding {
  return { what, measured: summarize(sample), unit }
}
