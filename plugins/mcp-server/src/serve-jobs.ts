import { setTimeout as delay } from 'node:timers/promises'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { AbortHub } from '@tenon/abort-hub'
import { type JobEvent, Jobs, type JobView } from '@tenon/jobs'
import type { PluginScope } from '@tenon/kernel'
import type { Connection } from './connection.ts'
import { find, JOBS_URI, jobResources, OUTPUT_TEMPLATE, readJobResource } from './job-resource.ts'
import { refuseCursor } from './one-page.ts'

/** From a change of the list to its announcement, in milliseconds: many a command is over by then, and nothing has changed. */
const SETTLE_MS = 100

/** Between two notifications that one output has grown, in milliseconds. */
const UPDATE_MS = 250

/** Jobs as resources, while there is a registry. */
export class JobResources {
  readonly #connections: ReadonlyMap<string, Connection>
  /** Of those the live fork follows: ends the following. */
  readonly #following = new Map<Connection, Map<string, AbortController>>()
  /** A client may follow many, and the registry is one. */
  readonly #aborts = new AbortHub()
  /** Announcements that are due, by connection and kind. */
  readonly #due = new Map<string, NodeJS.Timeout>()
  #present: { readonly fork: PluginScope; readonly jobs: Jobs } | undefined

  constructor(scope: PluginScope, connections: ReadonlyMap<string, Connection>) {
    this.#connections = connections
    scope.inject(
      [Jobs],
      (fork, jobs) => {
        this.#present = { fork, jobs }
        fork.defer(() => {
          this.#present = undefined
          this.#following.clear()
          for (const timer of this.#due.values()) clearTimeout(timer)
          this.#due.clear()
        })
        jobs.subscribe(fork, 'all', (event) => this.#heard(event))
        for (const connection of connections.values()) {
          this.#announce(connection)
          for (const uri of connection.subscriptions) this.#resume(connection, uri)
        }
      },
      () => {
        for (const connection of connections.values()) this.#announce(connection)
      },
    )
  }

  serve(server: Server, connection: Connection): void {
    const { session, subscriptions } = connection
    server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
      refuseCursor(params)
      const resources = jobResources(this.#present?.jobs, session)
      connection.resources = urisOf(resources)
      return { resources }
    })
    server.setRequestHandler(ListResourceTemplatesRequestSchema, ({ params }) => {
      refuseCursor(params)
      return {
        resourceTemplates: [{ uriTemplate: OUTPUT_TEMPLATE, name: 'job-output', title: 'Output of a background job', mimeType: 'text/plain' }],
      }
    })
    server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => readJobResource(this.#present?.jobs, session, params.uri))
    server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }) => {
      const { job } = find(this.#present?.jobs, session, uri)
      if (!subscriptions.has(uri) && job !== undefined) this.#follow(connection, uri, job)
      subscriptions.add(uri)
      return {}
    })
    server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
      subscriptions.delete(uri)
      this.#following.get(connection)?.get(uri)?.abort()
      return {}
    })
  }

  #heard(event: JobEvent): void {
    const owner = event.type === 'changed' ? event.owner : event.job.owner
    for (const connection of this.#connections.values()) if (connection.session.id === owner) this.#changed(connection, event)
  }

  #changed(connection: Connection, event: JobEvent): void {
    const { id } = connection
    if (event.type === 'registered' || event.type === 'removed') this.#soon(`list of ${id}`, () => this.#announce(connection))
    if (event.type === 'changed' && connection.subscriptions.has(JOBS_URI)) {
      this.#soon(`jobs of ${id}`, () => connection.tell((server) => server.sendResourceUpdated({ uri: JOBS_URI })))
    }
  }

  #soon(what: string, announce: () => void): void {
    if (this.#due.has(what)) return
    const timer = setTimeout(() => {
      this.#due.delete(what)
      announce()
    }, SETTLE_MS)
    this.#due.set(what, timer)
  }

  /** Only a client that has asked has seen a list that can change, and only if it has. */
  #announce(connection: Connection): void {
    if (connection.resources === undefined) return
    const now = urisOf(jobResources(this.#present?.jobs, connection.session))
    if (now === connection.resources) return
    connection.resources = now
    connection.tell((server) => server.sendResourceListChanged())
  }

  /** The registry has been away for a moment: what came meanwhile is told of, too. */
  #resume(connection: Connection, uri: string): void {
    try {
      const { job } = find(this.#present?.jobs, connection.session, uri)
      connection.tell((server) => server.sendResourceUpdated({ uri }))
      if (job !== undefined) this.#follow(connection, uri, job)
    } catch {
      connection.subscriptions.delete(uri)
    }
  }

  #follow(connection: Connection, uri: string, { id, output }: JobView): void {
    if (this.#present === undefined) return
    const { fork, jobs } = this.#present
    const ending = new AbortController()
    const { signal } = ending
    const own = this.#following.get(connection) ?? new Map<string, AbortController>()
    this.#following.set(connection, own.set(uri, ending))
    const from = Object.fromEntries(Object.entries(output).map(([channel, { size }]) => [channel, size]))
    fork.spawn(async (leaving) => {
      const stop = (): void => ending.abort()
      // A job of a shared session outlives whoever followed it.
      const forget = [leaving, connection.scope.signal].map((source) => this.#aborts.on(source, stop))
      if (leaving.aborted || connection.scope.closed) stop()
      try {
        for await (const item of jobs.follow(id, { caller: connection.session, from, signal })) {
          if (item.type === 'opened') continue
          connection.tell((server) => server.sendResourceUpdated({ uri }))
          // What comes meanwhile is part of the next item.
          if (item.type === 'output') await delay(UPDATE_MS, undefined, { signal }).catch(() => undefined)
          if (item.type === 'end') connection.subscriptions.delete(uri)
        }
      } finally {
        for (const each of forget) each()
        if (own.get(uri) === ending) own.delete(uri)
        if (own.size === 0 && this.#following.get(connection) === own) this.#following.delete(connection)
      }
    })
  }
}

function urisOf(resources: readonly { readonly uri: string }[]): string {
  return resources.map(({ uri }) => uri).join('\n')
}
