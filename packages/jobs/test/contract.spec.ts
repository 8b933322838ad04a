import { type Caller, JobError, type JobSpec, Jobs } from '@tenon/jobs'
import type { Session } from '@tenon/session'
import { describe, expect, expectTypeOf, it } from 'vitest'

describe('the jobs contract', () => {
  it('names its capability "jobs"', () => {
    expect(Jobs.key).toBe('jobs')
  })

  it('JB-49 a consuming read on behalf of the host does not compile', () => {
    expectTypeOf<Parameters<Jobs['read']>[1]>().toEqualTypeOf<Session>()
    expectTypeOf<Parameters<Jobs['readAt']>[2]>().toEqualTypeOf<Caller>()
    expectTypeOf<JobSpec['owner']>().toEqualTypeOf<Session>()
  })

  it('errors carry one of the codes and nothing else', () => {
    const error = new JobError('JOB_UNKNOWN', 'unknown job x-1')
    expect(error).toMatchObject({ name: 'JobError', code: 'JOB_UNKNOWN', message: 'unknown job x-1' })
    // @ts-expect-error not a code of this contract
    expect(new JobError('JOB_ODD', '').code).toBe('JOB_ODD')
  })
})
