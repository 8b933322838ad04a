// The rows that run bash for a model, in a process that may open few files: starts jobs until one cannot be started, stops them all, and
// runs a command after that. Prints what happened as one line of JSON.
import { closeSync, openSync, readdirSync } from 'node:fs'
import { Jobs } from '@tenon/jobs'
import { Kernel } from '@tenon/kernel'
import jobs from '@tenon/plugin-jobs'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import shellEnv from '@tenon/plugin-shell-env'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolBash from '@tenon/plugin-tool-bash'
import toolJobs from '@tenon/plugin-tool-jobs'
import tools from '@tenon/plugin-tools'
import { openSession } from '@tenon/session'
import { Tools } from '@tenon/tools'

const kernel = new Kernel()
const config = { jobs: { maxDetachedPerOwner: 64 } }
await Promise.all(
  [localSubprocess, localBash, shellEnv, tools, systemPrompt, jobs, toolJobs, toolBash].map((plugin) =>
    kernel.load(plugin, config[plugin.name] ?? {}).ready(),
  ),
)
await kernel.settled()
const session = openSession(kernel.scope, { id: 'one', cwd: '/tmp' })
const registry = kernel.get(Jobs)

async function bash(args) {
  const call = { name: 'bash', session, signal: session.scope.signal, arguments: { description: 'test it', ...args } }
  const result = await kernel.get(Tools).execute(call)
  return result.content.map(({ text }) => text).join('')
}

const descriptors = () => readdirSync('/proc/self/fd').length
await bash({ command: 'true' })
// Loading the modules took more descriptors than are to be left to the commands.
const ballast = []
try {
  for (;;) ballast.push(openSync('/dev/null', 'r'))
} catch (error) {
  if (error.code !== 'EMFILE') throw error
}
for (const descriptor of ballast.splice(-48)) closeSync(descriptor)
const before = descriptors()
let failure
for (let started = 0; failure === undefined && started < 64; started++) {
  await bash({ command: 'exec sleep 60', run_in_background: true })
  await new Promise((resolve) => setTimeout(resolve, 20))
  failure = registry.list('host').find(({ status }) => status === 'failed')?.detail.outcome
}
const running = registry.list('host').filter(({ status }) => status === 'running')
for (const { id } of running) registry.kill(id, 'host', { by: 'host', text: 'test is over' })
for (const { id } of running) await registry.wait(id, 10_000, 'host')
const after = await bash({ command: 'echo works again' })
// Those of the last command go at the end of the turn.
await new Promise((resolve) => setImmediate(resolve))
console.log(JSON.stringify({ failure, running: running.length, after, left: descriptors() - before }))
await kernel.close()
