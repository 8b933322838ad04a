import { mcpServerPlugin } from './plugin.ts'
import { systemWorld } from './system-world.ts'

/** Serves the tools of a composition over MCP. */
export default mcpServerPlugin(systemWorld)
