import { describe } from 'vitest'
import { describeEnds } from './ends.ts'
import { describeOutput } from './output.ts'
import { describeSessions } from './sessions.ts'
import { describeStarts } from './starts.ts'
import { describeWaits } from './waits.ts'
import { type JobsWorld, worlds } from './world.ts'

/** What every provider of `jobs` holds. `open` makes a fresh one, with limits that are not below 10 live jobs of a session. */
export function describeJobs(provider: string, open: () => Promise<JobsWorld>): void {
  const world = worlds(open)
  describe(`jobs by ${provider}`, () => {
    describeStarts(world)
    describeWaits(world)
    describeEnds(world)
    describeOutput(world)
    describeSessions(world)
  })
}
