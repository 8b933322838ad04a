import { describe, expect, it } from 'vitest'
import { pairedRatios, summarize } from './bench/measuring/statistics.ts'

describe('the summary of a sample', () => {
  it('is its median and quartiles, whatever the order', () => {
    expect(summarize([9, 1, 7, 3, 5])).toEqual({ median: 5, lowerQuartile: 3, upperQuartile: 7, count: 5 })
  })

  it('lies between two values where no value is in the middle', () => {
    expect(summarize([4, 1, 3, 2])).toEqual({ median: 2.5, lowerQuartile: 1.75, upperQuartile: 3.25, count: 4 })
  })

  it('of one value is that value', () => {
    expect(summarize([42])).toEqual({ median: 42, lowerQuartile: 42, upperQuartile: 42, count: 1 })
  })

  it('hardly moves for one run that was far out', () => {
    const quiet = [10, 11, 12, 13, 14]
    expect(summarize([...quiet, 900]).median - summarize(quiet).median).toBe(0.5)
  })

  it('leaves the sample as it is', () => {
    const sample = [3, 1, 2]
    summarize(sample)
    expect(sample).toEqual([3, 1, 2])
  })

  it.each([[[]], [[1, Number.NaN]], [[Number.POSITIVE_INFINITY]]])('does not exist for %j', (sample) => {
    expect(() => summarize(sample)).toThrow(RangeError)
  })
})

describe('paired ratios', () => {
  it('divide run by run, so that a slow minute of the machine cancels out', () => {
    expect(pairedRatios([100, 300, 110], [10, 30, 11])).toEqual([10, 10, 10])
  })

  it('refuse samples that were not measured in pairs', () => {
    expect(() => pairedRatios([1, 2], [1])).toThrow(RangeError)
  })
})
