import { Jobs } from '@tenon/jobs'
import { describeJobs } from '@tenon/jobs/conformance'
import { Kernel } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import { recordedLog } from '@tenon/testkit'

describeJobs('plugin-jobs', async () => {
  const kernel = new Kernel({ logger: recordedLog().logger })
  await kernel.load(jobsPlugin).ready()
  return { jobs: kernel.get(Jobs) as Jobs, close: () => kernel.close() }
})
