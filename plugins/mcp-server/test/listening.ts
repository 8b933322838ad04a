import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Logger } from '@tenon/kernel'
import { onTestFinished } from 'vitest'
import { McpServerConfig } from '../src/config.ts'
import type { Attendant } from '../src/endpoint.ts'
import { HttpEndpoint } from '../src/http.ts'

export const TOKEN = 'a-token-of-the-test'
/** One whose port is not looked up at the socket, which may be gone. */
export const HOST = 'box.example:7117'
export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}

export const WORLD = { pid: 1, version: () => '1', cwd: () => '/', now: () => 0 }

/** An endpoint on a free port with an activation that serves nothing but `ping`. */
export async function listening(options: object = {}) {
  let ids = 0
  const endpoint = new HttpEndpoint({ ...WORLD, randomId: () => `${ids++}` })
  let told = (_: { url: string }): void => undefined
  const address = new Promise<{ url: string }>((resolve) => {
    told = resolve
  })
  const log = { warn: told, error: () => undefined } as unknown as Logger
  const config = McpServerConfig.parse({ transport: 'http', port: 0, token: TOKEN, allowedHosts: [HOST], ...options })
  const attendant: Attendant = { row: 'served', config, log, cwd: '/', serverFor: async () => new Server({ name: 'x', version: '1' }) }
  await endpoint.admit(attendant)
  onTestFinished(() => endpoint.close())
  const { url } = await address
  const say = (message: object | undefined, session?: string): ClientRequest => {
    const sent = request(url, {
      method: message === undefined ? 'GET' : 'POST',
      headers: {
        host: HOST,
        authorization: `Bearer ${TOKEN}`,
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        expect: '100-continue',
        ...(session !== undefined && { 'mcp-session-id': session }),
      },
    })
    sent.end(message === undefined ? undefined : JSON.stringify(message))
    return sent
  }
  /** The server says Continue when it has it. */
  const taken = async (sent: ClientRequest): Promise<ClientRequest> => {
    await once(sent, 'continue')
    return sent
  }
  /** Resolves with the id of the new session. */
  const initialize = async (): Promise<string> => {
    const [response] = await once(say(INITIALIZE), 'response')
    response.resume()
    await once(response, 'end')
    return String(response.headers['mcp-session-id'])
  }
  return { attendant, endpoint, initialize, say, taken, url }
}

/** The whole answer to a request by hand. */
export async function answerTo(url: string, method: string, headers: Readonly<Record<string, string>>, message?: object) {
  const sent = request(url, { method, headers })
  sent.end(message === undefined ? undefined : JSON.stringify(message))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return { status: response.statusCode, headers: response.headers, text: await text(response) }
}
