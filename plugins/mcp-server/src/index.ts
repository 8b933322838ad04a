import { mcpServerPlugin } from './plugin.ts'
import { systemWorld } from './system-world.ts'

export { StandardStreams } from './standard-streams.ts'

/** Serves the tools of a composition over MCP. */
export default mcpServerPlugin(systemWorld)
