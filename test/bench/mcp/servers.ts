import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'

/** Of the checkout in which the bench runs. */
const PROGRAMS = {
  tenon: ['packages/cli/bin/tenon.js', 'mcp'],
  bare: ['test/bench/mcp/bare-server.js'],
} as const

/** A server in a process of its own, and the official client that started it. */
export class Served implements AsyncDisposable {
  readonly client: Client
  /** In which its commands run. */
  readonly folder: string

  constructor(client: Client, folder: string) {
    this.client = client
    this.folder = folder
  }

  static async start(name: keyof typeof PROGRAMS): Promise<Served> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'tenon-bench-mcp-')))
    const [program, ...args] = PROGRAMS[name]
    const client = new Client({ name: 'bench', version: '1' })
    const env = { PATH: process.env.PATH ?? '', HOME: folder }
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [resolve(program), ...args], cwd: folder, env }))
    return new Served(client, folder)
  }

  /** @throws Error if it is no success: a bench of failures would be a fast one */
  async call(name: string, args: object): Promise<CallToolResult> {
    const result = (await this.client.callTool({ name, arguments: { ...args } })) as CallToolResult
    if (result.isError) throw new Error(`${name}: ${textOf(result)}`)
    return result
  }

  /** @throws Error if the command printed anything else */
  async bash(command: string, printed = '(no output)'): Promise<void> {
    const text = textOf(await this.call('bash', { command, description: 'do nothing' }))
    if (text !== printed) throw new Error(`bash: ${command} printed ${JSON.stringify(text)}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close()
    await rm(this.folder, { recursive: true, force: true })
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}
