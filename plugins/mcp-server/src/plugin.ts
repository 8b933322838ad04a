import { definePlugin, Reconciling } from '@tenon/kernel'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'
import { attend, type Services, serverFor } from './attendance.ts'
import { McpServerConfig } from './config.ts'
import type { Attendant, Endpoint } from './endpoint.ts'
import { JobResources } from './serve-jobs.ts'
import { announceTools } from './serve-tools.ts'
import { StdioEndpoint } from './stdio.ts'
import type { World } from './world.ts'

/** Of the kept endpoint: another transport is another endpoint, and the old one ends once the new one is there. */
const VERSIONS = { stdio: 1, http: 2 }

export function mcpServerPlugin(world: World) {
  return definePlugin({
    name: 'mcp-server',
    inject: [Tools, SystemPrompt, Reconciling],
    config: McpServerConfig,
    async activate(scope, tools, prompt, reconciling) {
      const { config, log } = scope
      const cwd = config.cwd ?? world.cwd()
      const create = await creator(world, cwd, config)
      const endpoint = scope.keep<Endpoint>({
        key: 'endpoint',
        version: VERSIONS[config.transport],
        create,
        dispose: (kept) => kept.close(),
      })
      const jobs = new JobResources(scope, endpoint.connections)
      const services: Services = { tools, prompt, jobs, reconciling, now: world.now, version: world.version() }
      announceTools(scope, endpoint.connections, tools)
      for (const connection of endpoint.connections.values()) {
        if (connection.server !== undefined) attend(scope, connection.server, connection, services)
      }
      scope.defer(() => endpoint.hold())
      const attendant: Attendant = { config, log, cwd, serverFor: (connection) => serverFor(scope, connection, services) }
      // A port that cannot be had fails the activation. Standard input is always there, and is read once the composition is at rest.
      if (config.transport === 'http') await endpoint.admit(attendant)
      else scope.spawn(async () => endpoint.admit(attendant))
    },
  })
}

/** What serves HTTP is imported when it is asked for: over stdio it would be 6 MiB, which every fork of this process would have to map, too. */
async function creator(world: World, cwd: string, config: McpServerConfig): Promise<() => Endpoint> {
  if (config.transport === 'stdio') return () => new StdioEndpoint(world, cwd, config)
  const { HttpEndpoint } = await import('./http.ts')
  return () => new HttpEndpoint(world)
}
