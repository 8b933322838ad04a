import { describe } from 'vitest'
import { describeEnding } from './ending.ts'
import { describeLookup } from './lookup.ts'
import { describeOutput } from './output.ts'
import { describeStarting } from './starting.ts'
import { describeStreams } from './streams.ts'
import type { Open } from './under-test.ts'

export type { SubprocessUnderTest } from './under-test.ts'

/**
 * All that is promised of every provider and can be seen through the contract alone, with real processes. For a world with a POSIX
 * `sh`. `open` makes a provider for one test.
 */
export function describeSubprocess(name: string, open: Open): void {
  describe(name, () => {
    describeStarting(open)
    describeStreams(open)
    describeOutput(open)
    describeEnding(open)
    describeLookup(open)
  })
}
