// What one writes who needs a shell over MCP and nothing more: the SDK's own server with one tool, a spawn, and its output collected by hand.
import { spawn } from 'node:child_process'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { z } from 'zod'

const server = new McpServer({ name: 'bare', version: '1' })
const inputSchema = { command: z.string(), description: z.string() }

server.registerTool('bash', { description: 'Runs a command.', inputSchema }, ({ command }) => {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['--norc', '-c', command], { stdio: ['ignore', 'pipe', 'pipe'] })
    /** @type {Buffer[]} */
    const chunks = []
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(chunk))
    child.once('error', reject)
    child.once('close', (code) => {
      const text = `${Buffer.concat(chunks)}${code === 0 ? '' : `[exit code: ${code}]`}`
      resolve({ content: [{ type: 'text', text: text || '(no output)' }] })
    })
  })
})

await server.connect(new StdioServerTransport())
