/** Of one sample. Quartiles, not a deviation: on a shared machine a few runs are far out, and only upwards. */
export interface Summary {
  readonly median: number
  readonly lowerQuartile: number
  readonly upperQuartile: number
  readonly count: number
}

/** @throws RangeError for an empty sample, or one that holds what is no finite number */
export function summarize(sample: readonly number[]): Summary {
  if (sample.length === 0) throw new RangeError('an empty sample has no median')
  const stray = sample.find((value) => !Number.isFinite(value))
  if (stray !== undefined) throw new RangeError(`a sample of finite numbers holds ${stray}`)
  const sorted = [...sample].sort((a, b) => a - b)
  return {
    median: quantile(sorted, 0.5),
    lowerQuartile: quantile(sorted, 0.25),
    upperQuartile: quantile(sorted, 0.75),
    count: sorted.length,
  }
}

/**
 * The quotients of two samples whose values were measured in pairs, one right after the other: both of a pair saw the same load of
 * the machine, so their quotient holds still when the times do not.
 *
 * @throws RangeError if the samples differ in length
 */
export function pairedRatios(dividends: readonly number[], divisors: readonly number[]): number[] {
  if (dividends.length !== divisors.length) throw new RangeError(`${dividends.length} values cannot be paired with ${divisors.length}`)
  return dividends.map((dividend, index) => dividend / (divisors[index] ?? Number.NaN))
}

/** Nearest rank: a value of the sample. */
export function percentile(sample: readonly number[], part: number): number {
  const sorted = [...sample].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

/** Linear interpolation between the neighbours (type 7 of Hyndman and Fan, the default of R and NumPy). */
function quantile(sorted: readonly number[], part: number): number {
  const position = (sorted.length - 1) * part
  const below = sorted[Math.floor(position)] ?? Number.NaN
  const above = sorted[Math.ceil(position)] ?? Number.NaN
  return below + (above - below) * (position - Math.floor(position))
}
