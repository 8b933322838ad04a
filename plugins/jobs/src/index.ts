import { systemClock } from './clock.ts'
import { jobsPlugin } from './plugin.ts'

/** Provides `jobs`: the registry of work that may outlive the call that began it. */
export default jobsPlugin(systemClock)
