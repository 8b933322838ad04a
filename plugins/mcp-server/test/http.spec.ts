import { once } from 'node:events'
import { expect, it } from 'vitest'
import { HttpEndpoint } from '../src/http.ts'
import { listening, WORLD } from './listening.ts'

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
