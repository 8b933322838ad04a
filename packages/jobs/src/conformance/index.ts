export { describeJobs } from './describe-jobs.ts'
export { Producer, settled } from './producer.ts'
export { Stream } from './stream.ts'
export type { JobsWorld } from './world.ts'
