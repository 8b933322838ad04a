import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { asked, connect, type OverHttp, serveHttp } from './mcp/over-http.ts'
import { started, textOf } from './mcp/served.ts'

/** A POST by hand in a session; resolves with its answer, of a stream that of its one event. */
async function post({ url, token }: OverHttp, session: string | undefined, body: string | Buffer): Promise<{ status: number; text: string }> {
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json', authorization: `Bearer ${token}` }
  const response = await fetch(url, { method: 'POST', headers: { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) }, body })
  return { status: response.status, text: await response.text() }
}

const bash = (command: string, id = 7): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'bash', arguments: { command, description: 'for a test' } } })

it('CP-14 over HTTP what is no UTF-8 or no JSON is refused as such and runs nothing', async () => {
  const server = await serveHttp()
  const { bash: run, transport } = await connect(server, server.token)
  const [before = '', after = ''] = bash('touch FILE').split('FILE')
  const repaired = Buffer.concat([Buffer.from(before), Buffer.from([0x66, 0xfc]), Buffer.from(after)])
  for (const [body, why] of [
    [repaired, 'Parse error: the message is not UTF-8'],
    ['{"half', 'Parse error: '],
    ['', 'Parse error: '],
  ] as const) {
    const { status, text } = await post(server, transport.sessionId, body)
    expect([status, JSON.parse(text)]).toMatchObject([400, { id: null, error: { code: -32_700, message: expect.stringContaining(why) } }])
  }
  expect(textOf(await run('ls'))).not.toContain('f')
})

it('CP-14 a message over the bound is refused by it, however much of it is still to come, and its connection serves on', async () => {
  const server = await serveHttp({ maxMessageBytes: 10_000 })
  const { bash: run, transport } = await connect(server, server.token)
  const { status, text } = await post(server, transport.sessionId, bash('x'.repeat(8_000_000)))
  expect([status, JSON.parse(text)]).toMatchObject([413, { error: { message: 'a message has at most 10000 bytes' } }])
  expect(textOf(await run('echo on'))).toBe('on\n')
})

it('CP-14 requests that are half there take nobody the place of a session', async () => {
  const server = await serveHttp({ maxSessions: 1 })
  const half = asked(server, 'POST', undefined, { 'content-length': '1000' }).on('error', () => undefined)
  const found = once(half, 'socket')
  half.write('{"jsonrpc":"2.0",')
  const [socket] = await found
  await new Promise<void>((resolve) => socket.write('', () => resolve()))
  const { bash: run } = await connect(server, server.token)
  expect(textOf(await run('echo in'))).toBe('in\n')
  half.destroy()
})

it('CP-14 an id whose request has no answer yet is refused, and that request gets its own answer', async () => {
  const server = await serveHttp()
  const { transport } = await connect(server, server.token)
  const first = post(server, transport.sessionId, bash('touch begun; until test -e go; do sleep 0.02; done; echo first'))
  await vi.waitUntil(() => existsSync(path.join(server.cwd, 'begun')), { timeout: 20_000 })
  for (const body of [bash('touch again'), `[${bash('touch again', 8)},${bash('touch again')}]`]) {
    const { status, text } = await post(server, transport.sessionId, body)
    const message = 'Invalid Request: the id 7 is of a request that has no answer yet'
    expect([status, JSON.parse(text)]).toMatchObject([400, { error: { code: -32_600, message } }])
  }
  writeFileSync(path.join(server.cwd, 'go'), '')
  expect((await first).text).toContain('first\\n')
  expect((await post(server, transport.sessionId, bash('ls'))).text).not.toContain('again')
})

it('CP-14 an id whose stream was dropped is free again when its call has ended', async () => {
  const server = await serveHttp()
  const { bash: run, transport } = await connect(server, server.token)
  const call = asked(server, 'POST', transport.sessionId).on('error', () => undefined)
  call.end(bash('touch begun; until test -e go; do sleep 0.02; done'))
  await vi.waitUntil(() => existsSync(path.join(server.cwd, 'begun')), { timeout: 20_000 })
  call.destroy()
  await run('touch go')
  await vi.waitUntil(async () => (await post(server, transport.sessionId, bash('echo again'))).status === 200, { timeout: 20_000 })
})

it('CP-14 over HTTP a client is told what it has asked to be told, from the level it has set', async () => {
  const server = await serveHttp()
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  await one.client.setLoggingLevel('error')
  started(await one.bash('until test -e one; do sleep 0.02; done', { run_in_background: true }))
  writeFileSync(path.join(server.cwd, 'one'), '')
  // The model reads it all the same.
  await vi.waitUntil(async () => (await one.bash('true')).content.length === 2, { timeout: 20_000 })
  await one.client.setLoggingLevel('notice')
  const told = one.messages.next()
  started(await one.bash('until test -e two; do sleep 0.02; done', { run_in_background: true }))
  writeFileSync(path.join(server.cwd, 'two'), '')
  expect(await told).toMatch(/^background job .* until test -e two/)
  expect([one.messages.all.length, two.messages.all]).toEqual([1, []])
})
