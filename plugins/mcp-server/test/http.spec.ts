import { once } from 'node:events'
import { expect, it } from 'vitest'
import { HttpEndpoint } from '../src/http.ts'
import { answerTo, HOST, INITIALIZE, listening, TOKEN, WORLD } from './listening.ts'

const AUTHORIZED = { host: HOST, authorization: `Bearer ${TOKEN}`, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

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

it('CP-14 who initializes with what does not fit gets no session, and leaves none', async () => {
  const { endpoint, say } = await listening()
  const [response] = await once(say({ ...INITIALIZE, params: {} }), 'response')
  expect(response.statusCode).toBe(400)
  response.resume()
  await once(response, 'end')
  while (endpoint.connections.size > 0) await new Promise((resolve) => setImmediate(resolve))
})

it('CP-14 who has no session and does not initialize is told which header is missing', async () => {
  const { endpoint, url } = await listening({ maxSessions: 1 })
  const ping = { jsonrpc: '2.0', id: 2, method: 'ping' }
  const why = 'Bad Request: the header Mcp-Session-Id is missing; only initialize comes without it'
  for (const [method, message] of [['POST', ping], ['POST', [ping, ping]], ['GET'], ['DELETE']] as const) {
    const { status, text } = await answerTo(url, method, AUTHORIZED, message)
    expect([method, status, JSON.parse(text)]).toEqual([method, 400, { jsonrpc: '2.0', id: null, error: { code: -32_000, message: why } }])
    expect(endpoint.connections.size).toBe(0)
  }
  expect((await answerTo(url, 'POST', AUTHORIZED, INITIALIZE)).status).toBe(200)
  // Also where there is no room for another.
  expect((await answerTo(url, 'POST', AUTHORIZED, ping)).text).toContain(why)
})

it('CP-14 JSON that is no message is an invalid request, with its id, also in a batch', async () => {
  const { initialize, url } = await listening()
  const session = { ...AUTHORIZED, 'mcp-session-id': await initialize() }
  for (const [message, id] of [
    [{ id: 7, method: 'x/y' }, 7],
    [{ jsonrpc: '2.0', id: 'seven', method: 7 }, 'seven'],
    [{ jsonrpc: '2.0', id: { n: 7 }, method: 'x/y' }, null],
    [{}, null],
    [[{ jsonrpc: '2.0', id: 1, method: 'ping' }, { id: 7 }], null],
  ] as const) {
    const { status, text } = await answerTo(url, 'POST', session, message)
    const error = { code: -32_600, message: 'Invalid Request: not a JSON-RPC 2.0 message' }
    expect([status, JSON.parse(text)]).toEqual([400, { jsonrpc: '2.0', id, error }])
  }
  const batch = [3, 4].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }))
  const { status, text } = await answerTo(url, 'POST', session, batch)
  expect([status, text.match(/"id":\d/g)]).toEqual([200, ['"id":3', '"id":4']])
})

it('CP-14 a port that is taken is refused with the ways out', async () => {
  const { attendant, url } = await listening()
  const other = new HttpEndpoint({ ...WORLD, randomId: () => 'x' })
  const port = Number(new URL(url).port)
  const admitted = other.admit({ ...attendant, config: { ...attendant.config, port } })
  await expect(admitted).rejects.toMatchObject({
    code: 'MCP_LISTEN',
    message: expect.stringMatching(/EADDRINUSE.*; set host or port, or leave the row out with --disable served$/),
  })
})
