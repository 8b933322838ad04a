import { Jobs } from '@tenon/jobs'
import { definePlugin } from '@tenon/kernel'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'
import { ToolJobsConfig } from './config.ts'
import { jobKill } from './job-kill.ts'
import { jobList } from './job-list.ts'
import { jobOutput } from './job-output.ts'
import { Matcher } from './matcher.ts'
import { notify } from './notifier.ts'
import { text } from './text.ts'

/** The model's side of the job registry: tools, the words that go with them, and the notices of what has finished. */
export default definePlugin({
  name: 'tool-jobs',
  inject: [Jobs, Tools, SystemPrompt],
  config: ToolJobsConfig,
  activate(scope, jobs, tools, prompt) {
    tools.register(scope, jobOutput(jobs, scope.config, new Matcher()))
    tools.register(scope, jobList(jobs))
    tools.register(scope, jobKill(jobs))
    prompt.section(scope, { name: 'tool:jobs', order: 106, text: text.section })
    notify(scope, jobs)
    // Last, and gone first: from here on the promise stands that all the rest keeps.
    jobs.attachController(scope, { name: 'tool-jobs' })
  },
})
