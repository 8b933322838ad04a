import { getEventListeners } from 'node:events'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { type JobFollow, Jobs } from '@tenon/jobs'
import { definePlugin, Kernel, type Scope } from '@tenon/kernel'
import { expect, it, onTestFinished } from 'vitest'
import { Connection } from '../src/connection.ts'
import { outputUri } from '../src/job-resource.ts'
import { JobResources } from '../src/serve-jobs.ts'
import { SharedSession } from '../src/shared-session.ts'

/** A registry in which every job is there, and says nothing until nobody follows it any more. */
class EndlessJobs {
  readonly followed: AbortSignal[] = []
  subscriber: Scope | undefined

  get(id: string) {
    return { id, output: { stdout: { size: 0, earliest: 0 } } }
  }

  /** Nothing ever happens. */
  subscribe(scope: Scope): void {
    this.subscriber = scope
  }

  async *follow(_id: string, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<JobFollow> {
    this.followed.push(signal)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    yield* []
  }
}

/** Connections that are served resources of the registry, and what a client of each would say. */
async function serving() {
  const jobs = new EndlessJobs()
  const kernel = new Kernel()
  const shared = new SharedSession('together', '/')
  const connections = new Map<string, Connection>()
  const server = definePlugin({
    name: 'server',
    activate(scope) {
      const resources = new JobResources(scope, connections)
      open = (id) => {
        const connection = new Connection(id, '/', shared)
        connections.set(id, connection)
        const handlers: ((request: { readonly params: { readonly uri: string } }) => unknown)[] = []
        resources.serve({ setRequestHandler: (_: unknown, handler: never) => handlers.push(handler) } as unknown as Server, connection)
        return { connection, subscribe: (job: string) => handlers[3]?.({ params: { uri: outputUri(job) } }) }
      }
    },
  })
  let open: (id: string) => { readonly connection: Connection; subscribe(job: string): unknown } = () => {
    throw new Error('not active')
  }
  const registry = kernel.load(definePlugin({ name: 'jobs', provides: [Jobs], activate: (scope) => scope.provide(Jobs, jobs as unknown as Jobs) }))
  await kernel.load(server).ready()
  await kernel.settled()
  onTestFinished(async () => {
    await kernel.close()
    await shared.close()
  })
  return {
    jobs,
    registry,
    open: (id: string) => open(id),
    listeners: () => getEventListeners(jobs.subscriber?.signal as AbortSignal, 'abort').length,
  }
}

it('CP-14 a client that leaves shared jobs is not followed for any more, and another goes on', async () => {
  const { jobs, open } = await serving()
  const [one, two] = [open('one'), open('two')]
  one.subscribe('bash-1')
  two.subscribe('bash-1')
  await expect.poll(() => jobs.followed.length).toBe(2)
  await one.connection.close()
  expect(jobs.followed.map(({ aborted }) => aborted)).toEqual([true, false])
  await two.connection.close()
  expect(jobs.followed.map(({ aborted }) => aborted)).toEqual([true, true])
})

it('CP-14 B125 however many outputs are followed, they are one listener, and end with the registry', async () => {
  const { jobs, open, registry, listeners } = await serving()
  const before = listeners()
  const one = open('one')
  for (let job = 0; job < 50; job++) one.subscribe(`bash-${job}`)
  await expect.poll(() => jobs.followed.length).toBe(50)
  expect(listeners() - before).toBe(1)
  await registry.unload()
  expect(jobs.followed.every(({ aborted }) => aborted)).toBe(true)
})
