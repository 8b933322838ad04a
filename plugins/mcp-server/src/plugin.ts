import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { definePlugin, type KeepSpec, type PluginScope, Reconciling } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { SystemPrompt } from '@tenon/system-prompt'
import { Tools } from '@tenon/tools'
import { McpServerConfig } from './config.ts'
import { announceTools, serveTools } from './serve-tools.ts'
import { openStdio, type Stdio } from './stdio.ts'
import type { World } from './world.ts'

export function mcpServerPlugin(world: World) {
  return definePlugin({
    name: 'mcp-server',
    inject: [Tools, SystemPrompt, Reconciling],
    config: McpServerConfig,
    activate(scope, tools, prompt, reconciling) {
      const { cwd = world.cwd(), ...limits } = scope.config
      const { connection, transport } = scope.keep(keptStdio(() => openStdio(world, cwd, limits)))
      transport.limits = limits
      const attach = (server: Server): void => {
        server.onerror = (error) => scope.log.debug({ err: error }, 'of the connection')
        serveTools(server, connection, { tools, reconciling, now: world.now })
      }
      announceTools(scope, connection, tools)
      // Until the next activation has laid its handlers over the server, what the client says waits in the pipe.
      scope.defer(() => transport.pause())
      if (connection.server !== undefined) {
        attach(connection.server)
        transport.resume()
        return
      }
      scope.spawn(async (signal) => {
        // The first client would otherwise meet a composition that is only half there.
        await reconciling.settled(signal)
        const instructions = await assemble(scope, prompt, connection.session)
        signal.throwIfAborted()
        const server = new Server(
          { name: 'tenon', version: world.version() },
          { capabilities: { tools: { listChanged: true }, logging: {} }, ...(instructions !== '' && { instructions }) },
        )
        attach(server)
        await connection.open(server, transport)
      })
    },
  })
}

function keptStdio(create: () => Stdio): KeepSpec<Stdio> {
  return { key: 'stdio', version: 1, create, dispose: ({ connection }) => connection.close() }
}

/** A prompt that cannot be assembled is no reason to serve no tools. */
async function assemble(scope: PluginScope, prompt: SystemPrompt, session: Session): Promise<string> {
  try {
    const { text, omitted } = await prompt.assemble(session, scope.signal)
    if (omitted.length > 0) scope.log.warn({ omitted }, 'instructions without some sections')
    return text
  } catch (error) {
    if (!scope.closed) scope.log.error({ err: error }, 'no instructions: the system prompt cannot be assembled')
    return ''
  }
}
