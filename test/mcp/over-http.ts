import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import type { Writable } from 'node:stream'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { type CallToolResult, LoggingMessageNotificationSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'
import { executable, Facts, folder } from './served.ts'

export interface OverHttp {
  readonly url: string
  /** As the log told it. */
  readonly token: string
  readonly cwd: string
  /** Of `tenon run`: one command of the console per line. */
  readonly console: Writable
  /** Lines of standard output and error. */
  readonly said: Facts<string>
  readonly exit: Promise<number | null>
}

/** `tenon run` with a server that listens on a free port. */
export async function serveHttp(options: Readonly<Record<string, unknown>> = {}): Promise<OverHttp> {
  return serveCatalog(`extends: default\nplugins:\n  mcp: { use: mcp-server, with: ${JSON.stringify({ transport: 'http', port: 0, ...options })} }\n`)
}

/** `tenon run` with a catalog that serves HTTP. */
export async function serveCatalog(catalog: string, flags: readonly string[] = [], more: Readonly<Record<string, string>> = {}): Promise<OverHttp> {
  const cwd = await folder(catalog)
  const env = { PATH: process.env.PATH ?? '', HOME: cwd, ...more }
  const child = spawn(process.execPath, [executable, 'run', ...flags], { cwd, env, stdio: 'pipe' })
  const exit = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.stdin.end()
    await exit
  })
  const said = new Facts<string>()
  for (const stream of [child.stdout, child.stderr]) {
    let rest = ''
    stream.on('data', (chunk: Buffer) => {
      const lines = `${rest}${String(chunk)}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) said.add(line)
    })
  }
  const line = await said.some((text) => text.includes('serving MCP over HTTP'))
  const { url, token } = JSON.parse(line) as { url: string; token: string }
  return { url, token, cwd, console: child.stdin, said, exit }
}

export interface HttpClient {
  readonly client: Client
  readonly transport: StreamableHTTPClientTransport
  readonly messages: Facts<string>
  readonly listChanges: Facts<'changed'>
  call(name: string, args?: object): Promise<CallToolResult>
  bash(command: string, more?: object): Promise<CallToolResult>
}

export async function connect({ url }: OverHttp, token: string): Promise<HttpClient> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${token}` } } })
  const client = new Client({ name: 'test', version: '1' })
  const [messages, listChanges] = [new Facts<string>(), new Facts<'changed'>()]
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => messages.add(String(params.data)))
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => listChanges.add('changed'))
  onTestFinished(() => client.close())
  await client.connect(transport as Transport)
  const call = async (name: string, args: object = {}): Promise<CallToolResult> =>
    (await client.callTool({ name, arguments: { ...args } })) as CallToolResult
  return {
    client,
    transport,
    messages,
    listChanges,
    call,
    bash: (command, more = {}) => call('bash', { command, description: 'for a test', ...more }),
  }
}

/** A request by hand that is not ended yet. */
export function asked(
  { url, token }: OverHttp,
  method: string,
  session: string | undefined,
  headers: Readonly<Record<string, string>> = {},
): ClientRequest {
  const accept = method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream'
  const own = session === undefined ? {} : { 'mcp-session-id': session }
  return request(url, {
    method,
    headers: { accept, 'content-type': 'application/json', authorization: `Bearer ${token}`, ...own, ...headers },
  })
}

/** The status of a request made by hand: `fetch` lets nobody choose Host. */
export async function statusOf(url: string, method: string, headers: Readonly<Record<string, string>>, body = ''): Promise<number> {
  const sent = request(url, { method, headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json', ...headers } })
  sent.end(body)
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode as number
}
