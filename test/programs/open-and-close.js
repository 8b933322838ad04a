// Opens the catalog that is its argument, runs a command, closes, and tells what the runtime was and what it left. Further arguments: a
// program that stands in for PowerShell, and the command that says "here" to it.
import { readdirSync, readFileSync } from 'node:fs'
import { openRuntime } from '@tenon/runtime'
import { openSession } from '@tenon/session'
import { Tools } from '@tenon/tools'

const [, , catalog, standIn, played] = process.argv

const descriptors = () => readdirSync('/proc/self/fd').length
const listeners = () => Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]))
const children = () => readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).length
// Standard output and error may be pipes of the one who reads this.
const resources = () => process.getActiveResourcesInfo().filter((name) => name !== 'PipeWrap')

const round = async () => {
  const runtime = await openRuntime({ catalog, ...(standIn && { edit: { set: { 'shell.executable': standIn } } }) })
  const tools = runtime.get(Tools)
  const session = openSession(runtime.kernel.scope, { id: 'test', cwd: process.cwd() })
  const name = runtime.composition.rows.some(({ id, state }) => id === 'tool-pwsh' && state === 'active') ? 'pwsh' : 'bash'
  const request = { name, arguments: { command: played ?? 'echo here', description: 'say here' }, session, signal: session.scope.signal }
  const result = tools && (await tools.execute(request))
  const report = runtime.kernel.inspect()
  await runtime.close()
  return { report, said: result?.isError === false ? result.value.stdout.text : result?.message }
}

// The first round loads what stays loaded: modules, and what Node keeps for them.
await round()
await new Promise((resolve) => setImmediate(resolve))
const before = { listeners: listeners(), descriptors: descriptors() }
const { report, said } = await round()
await new Promise((resolve) => setImmediate(resolve))
const more = Object.entries(listeners()).filter(([name, count]) => count !== before.listeners[name])
const after = { resources: resources(), listeners: Object.fromEntries(more), children: children(), descriptors: descriptors() - before.descriptors }
process.stdout.write(JSON.stringify({ report, said, after }))
