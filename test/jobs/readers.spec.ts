import type { ChannelReader } from '@tenon/jobs'
import type { OutputReader } from '@tenon/subprocess'
import { expectTypeOf, it } from 'vitest'

it('a reader of a process is a reader of a job as it is', () => {
  expectTypeOf<OutputReader>().toExtend<ChannelReader>()
})
