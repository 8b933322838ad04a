import { fileURLToPath } from 'node:url'

const registry = fileURLToPath(new URL('../../../plugins/jobs/src/index.ts', import.meta.url))

/** A composition with the job registry, and tools that start jobs: `start` in the background, `hold` in the foreground. */
export const JOBS_CATALOG = `plugins:\n  tools: tools\n  jobs: ${registry}\n  mine: ./jobs.ts\n`

export const JOBS_PLUGIN = `import { capability, definePlugin } from '@tenon/kernel'
const Tools = capability<any>('tools')
const Jobs = capability<any>('jobs')
export default definePlugin({
  name: 'job-starters',
  inject: [Tools, Jobs],
  activate(scope, tools, jobs) {
    jobs.attachController(scope, { name: 'test' })
    const begin = (session: any, attachment: string): string => jobs.start({
      kind: 'test', label: 'a job\\u001b[2J of the test', owner: session, attachment,
      run: () => {
        let end = (_outcome: any): void => undefined
        const done = new Promise((resolve) => { end = resolve })
        return { cancel: () => end({ status: 'killed', outcome: 'stopped', value: 'last words\\u001b[2J\\n' }), done }
      },
    })
    const render = (value: any) => [{ type: 'text', text: String(value.text) }]
    tools.register(scope, { name: 'start', description: 'Starts.', inputSchema: {}, render, execute: async (_: any, call: any) => ({ text: begin(call.session, 'detached') }) })
    tools.register(scope, { name: 'hold', description: 'Holds.', inputSchema: {}, render, execute: async (_: any, call: any) => {
      const id = begin(call.session, 'foreground')
      scope.log.warn('holding ' + id)
      const { outcome } = await jobs.wait(id, 60_000, call.session, call.signal)
      jobs.detach(id, call.session)
      return { text: outcome + ' ' + id }
    } })
    tools.register(scope, { name: 'notice', description: 'Tells.', inputSchema: {}, render, execute: async (_: any, call: any) => ({ text: call.session.deliver({ source: 'test', text: 'long', summary: 'short\\u001b[2J news' }) }) })
  },
})
`
