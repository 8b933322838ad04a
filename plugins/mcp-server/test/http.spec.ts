import { once } from 'node:events'
import { type ClientRequest, request } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { Logger } from '@tenon/kernel'
import { expect, it, onTestFinished } from 'vitest'
import { McpServerConfig } from '../src/config.ts'
import type { Attendant } from '../src/endpoint.ts'
import { HttpEndpoint } from '../src/http.ts'

const TOKEN = 'a-token-of-the-test'
/** One whose port is not looked up at the socket, which may be gone. */
const HOST = 'box.example:7117'
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
}

/** An endpoint on a free port with an activation that serves nothing but `ping`. */
async function listening(options: object = {}) {
  let ids = 0
  const world = {
    pid: 1,
    version: () => '1',
    cwd: () => '/',
    now: () => 0,
    randomId: () => `${ids++}`,
  }
  const endpoint = new HttpEndpoint(world)
  let told = (_: { url: string }): void => undefined
  const address = new Promise<{ url: string }>((resolve) => {
    told = resolve
  })
  const log = { warn: told, error: () => undefined } as unknown as Logger
  const config = McpServerConfig.parse({ transport: 'http', port: 0, token: TOKEN, allowedHosts: [HOST], ...options })
  const attendant: Attendant = { config, log, cwd: '/', serverFor: async () => new Server({ name: 'x', version: '1' }) }
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
  return { attendant, endpoint, initialize, say, taken }
}

it('CP-14 who leaves while no activation is there is not waited for: the session ends in its time', async () => {
  const { attendant, endpoint, initialize, say, taken } = await listening({ idleMs: 1_000 })
  const session = await initialize()
  const [connection] = endpoint.connections.values()
  const ended = new Promise<void>((resolve) => connection?.scope.defer(() => resolve()))
  endpoint.hold()
  // A stream, which would stay open for good.
  const waiting = await taken(say(undefined, session))
  const broken = once(waiting, 'error')
  waiting.destroy(new Error('gone'))
  await broken
  // Others after it: that it has gone has been noticed by then.
  const others = [
    await taken(say({ jsonrpc: '2.0', id: 3, method: 'ping' }, 'nobody')),
    await taken(say({ jsonrpc: '2.0', id: 4, method: 'ping' }, 'nobody')),
  ]
  const answered = Promise.all(others.map((other) => once(other, 'response')))
  await endpoint.admit(attendant)
  for (const [response] of await answered) response.resume()
  await ended
  expect(endpoint.connections.size).toBe(0)
})

it('CP-14 what comes while no activation is there is answered by the next one', async () => {
  const { attendant, endpoint, initialize, say, taken } = await listening()
  const session = await initialize()
  endpoint.hold()
  const waiting = await taken(say({ jsonrpc: '2.0', id: 2, method: 'ping' }, session))
  const answered = once(waiting, 'response')
  await endpoint.admit(attendant)
  const [response] = await answered
  expect(response.statusCode).toBe(200)
  response.resume()
})

it('CP-14 who does not initialize gets no session, and leaves none', async () => {
  const { endpoint, say } = await listening()
  const [response] = await once(say({ jsonrpc: '2.0', id: 2, method: 'ping' }), 'response')
  expect(response.statusCode).toBe(400)
  response.resume()
  await once(response, 'end')
  while (endpoint.connections.size > 0) await new Promise((resolve) => setImmediate(resolve))
})
