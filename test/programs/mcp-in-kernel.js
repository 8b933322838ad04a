// Serves MCP over standard input and output in a kernel of its own, without a runtime; "unload" takes the row out.
import { definePlugin, Kernel } from '@tenon/kernel'
import mcpServer, { StandardStreams } from '@tenon/plugin-mcp-server'
import tools from '@tenon/plugin-tools'

const kernel = new Kernel()
const released = () => void kernel.close().then(() => process.disconnect())
const streams = { row: 'mcp', process, released }
kernel.load(tools)
kernel.load(mcpServer, {}, { id: 'mcp' })
kernel.load(mcpServer, {}, { id: 'other' })
kernel.load(definePlugin({ name: 'streams', provides: [StandardStreams], activate: (scope) => scope.provide(StandardStreams, streams) }))
process.on(
  'message',
  (id) =>
    void kernel
      .row(id)
      .unload()
      .then(() => process.connected && process.send('unloaded')),
)
