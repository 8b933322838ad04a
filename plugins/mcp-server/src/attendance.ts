import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { PluginScope, Reconciling } from '@tenon/kernel'
import type { Connection } from './connection.ts'
import type { Instructions } from './instructions.ts'
import type { JobResources } from './serve-jobs.ts'
import { serveTools, type ToolService } from './serve-tools.ts'

export interface Services extends ToolService {
  readonly instructions: Instructions
  readonly jobs: JobResources
  readonly reconciling: Reconciling
  readonly version: string
}

/** A server for a connection that opens: with instructions, and the handlers of this activation. */
export async function serverFor(scope: PluginScope, connection: Connection, services: Services): Promise<Server> {
  // A client that is here first would otherwise meet a composition that is only half there.
  await services.reconciling.settled(scope.signal)
  const instructions = await services.instructions.for(connection.session)
  const capabilities = { tools: { listChanged: true }, resources: { listChanged: true, subscribe: true }, logging: {} }
  const server = new Server({ name: 'tenon', version: services.version }, { capabilities, ...(instructions !== '' && { instructions }) })
  attend(scope, server, connection, services)
  return server
}

/** Lays the handlers of this activation over a server that is connected already. */
export function attend(scope: PluginScope, server: Server, connection: Connection, services: Services): void {
  server.onerror = (error) => scope.log.debug({ err: error, connection: connection.id }, 'of a connection')
  serveTools(server, connection, services)
  services.jobs.serve(server, connection)
}
