import type { ChannelReader } from '@tenon/jobs'
import type { OutputReader } from '@tenon/subprocess'
import { describe, expectTypeOf, it } from 'vitest'

describe('contracts that meet', () => {
  it('an output reader of subprocess is a channel reader of jobs as it is', () => {
    expectTypeOf<OutputReader>().toExtend<ChannelReader>()
  })
})
