import { definePlugin, Reconciling } from '@tenon/kernel'
import { Tools } from '@tenon/tools'
import { attend, type Services, serverFor } from './attendance.ts'
import { McpServerConfig } from './config.ts'
import type { Attendant } from './endpoint.ts'
import type { HttpEndpoint } from './http.ts'
import { Instructions } from './instructions.ts'
import { JobResources } from './serve-jobs.ts'
import { serveStdio } from './serve-stdio.ts'
import { announceTools } from './serve-tools.ts'
import { StdioEndpoint } from './stdio.ts'
import type { World } from './world.ts'

/** Of the kept endpoint: another transport is another endpoint, and the old one ends once the new one is there. */
const VERSIONS = { stdio: 1, http: 2 }

export function mcpServerPlugin(world: World) {
  return definePlugin({
    name: 'mcp-server',
    inject: [Tools, Reconciling],
    config: McpServerConfig,
    async activate(scope, tools, reconciling) {
      const { config, log } = scope
      const create = await creator(world, config)
      const endpoint = scope.keep<StdioEndpoint | HttpEndpoint>({
        key: 'endpoint',
        version: VERSIONS[config.transport],
        create,
        dispose: (kept) => kept.close(),
      })
      const jobs = new JobResources(scope, endpoint.connections)
      const instructions = new Instructions(scope)
      const services: Services = { tools, instructions, jobs, reconciling, now: world.now, version: world.version() }
      announceTools(scope, endpoint.connections, tools)
      for (const connection of endpoint.connections.values()) {
        if (connection.server !== undefined) attend(scope, connection.server, connection, services)
      }
      const cwd = config.cwd ?? world.cwd()
      const attendant: Attendant = { row: scope.name, config, log, cwd, serverFor: (connection) => serverFor(scope, connection, services) }
      if (endpoint.transport === 'stdio') return serveStdio(scope, endpoint, attendant, reconciling)
      scope.defer(() => endpoint.hold())
      // A port that cannot be had fails the activation.
      await endpoint.admit(attendant)
    },
  })
}

/** What serves HTTP is imported when it is asked for: over stdio it would be 6 MiB, which every fork of this process would have to map, too. */
async function creator(world: World, config: McpServerConfig): Promise<() => StdioEndpoint | HttpEndpoint> {
  if (config.transport === 'stdio') return () => new StdioEndpoint(world.pid)
  const { HttpEndpoint } = await import('./http.ts')
  return () => new HttpEndpoint(world)
}
