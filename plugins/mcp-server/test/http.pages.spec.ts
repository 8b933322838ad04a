import { expect, it } from 'vitest'
import { answerTo, HOST, INITIALIZE, listening, TOKEN } from './listening.ts'

const PAGE = 'http://pages.test'
const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type' }
const AUTHORIZED = { authorization: `Bearer ${TOKEN}`, accept: 'application/json, text/event-stream', 'content-type': 'application/json' }

/** An endpoint that lets in `PAGE`, and requests as they come from a page. */
async function open(allowedOrigins: readonly string[] = [PAGE]) {
  const { url } = await listening({ allowedOrigins })
  return (method: string, headers: Readonly<Record<string, string>>, message?: object) => answerTo(url, method, { host: HOST, ...headers }, message)
}

it('CP-14 the preflight of a page that may come in is answered without a token', async () => {
  const ask = await open(['http://others.test', PAGE])
  const { status, headers, text } = await ask('OPTIONS', { origin: PAGE, ...PREFLIGHT })
  expect([status, text]).toEqual([204, ''])
  expect(headers).toMatchObject({
    'access-control-allow-origin': PAGE,
    'access-control-allow-methods': 'GET,POST,DELETE',
    'access-control-allow-headers': 'authorization,content-type,mcp-session-id,mcp-protocol-version,last-event-id',
    'access-control-max-age': '600',
    vary: 'Origin',
  })
  expect(headers).not.toHaveProperty('access-control-allow-credentials')
})

it('CP-14 a page that may come in reads every answer, its session id and the refusals too', async () => {
  const ask = await open()
  const shared = {
    'access-control-allow-origin': PAGE,
    'access-control-expose-headers': 'Mcp-Session-Id,WWW-Authenticate',
    vary: 'Origin',
  }
  const opened = await ask('POST', { origin: PAGE, ...AUTHORIZED }, INITIALIZE)
  expect(opened).toMatchObject({ status: 200, headers: { ...shared, 'mcp-session-id': expect.stringMatching(/^mcp-/) } })
  const session = { ...AUTHORIZED, 'mcp-session-id': String(opened.headers['mcp-session-id']) }
  expect(await ask('POST', { origin: PAGE, ...session }, { jsonrpc: '2.0', id: 2, method: 'ping' })).toMatchObject({ status: 200, headers: shared })
  expect(await ask('POST', { origin: PAGE }, INITIALIZE)).toMatchObject({ status: 401, headers: { ...shared, 'www-authenticate': 'Bearer' } })
  expect(await ask('POST', { origin: PAGE, ...AUTHORIZED, 'mcp-session-id': 'none' }, INITIALIZE)).toMatchObject({ status: 404, headers: shared })
  // Without the header it is no preflight.
  expect(await ask('OPTIONS', { origin: PAGE })).toMatchObject({ status: 401, headers: shared })
  expect(await ask('DELETE', { origin: PAGE, ...session })).toMatchObject({ status: 200, headers: shared })
})

it('CP-14 other pages and other programs are told nothing of it, and a page comes in by no other name', async () => {
  const ask = await open()
  for (const origin of ['http://evil.test', `${PAGE}.evil.test`, 'null', '*']) {
    const { status, headers } = await ask('OPTIONS', { origin, ...PREFLIGHT })
    expect([origin, status, headers['access-control-allow-origin']]).toEqual([origin, 403, undefined])
  }
  expect((await ask('OPTIONS', { origin: PAGE, host: 'evil.test', ...PREFLIGHT })).status).toBe(403)
  expect((await ask('OPTIONS', PREFLIGHT)).status).toBe(401)
  expect((await ask('POST', AUTHORIZED, INITIALIZE)).headers).not.toHaveProperty('access-control-allow-origin')
})
