import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import path from 'node:path'
import { expect, it } from 'vitest'
import { asked, connect, serveHttp, statusOf } from './mcp/over-http.ts'
import { started, textOf } from './mcp/served.ts'

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })
const untilGone = (pid: string): string => `while kill -0 ${pid} 2>/dev/null; do sleep 0.02; done; echo gone`

const bash = (command: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'bash', arguments: { command, description: 'for a test' } } })

it('CP-14 over HTTP what is no message, too long, a wrong method or a wrong type is refused, and the session goes on', async () => {
  const server = await serveHttp({ maxMessageBytes: 10_000 })
  const { bash: run, transport } = await connect(server, server.token)
  const session = { authorization: `Bearer ${server.token}`, 'mcp-session-id': transport.sessionId ?? '' }
  const post = (body: string, headers = {}): Promise<number> => statusOf(server.url, 'POST', { ...session, ...headers }, body)
  expect(await post('{"half')).toBe(400)
  expect(await post('42')).toBe(400)
  expect(await post(bash('x'.repeat(20_000)))).toBe(413)
  expect(await post(PING, { 'content-type': 'text/plain' })).toBe(415)
  expect(await post(PING, { accept: 'text/html' })).toBe(406)
  expect(await post(PING, { 'mcp-protocol-version': 'never' })).toBe(400)
  expect(await statusOf(server.url, 'PUT', session, PING)).toBe(405)
  expect(textOf(await run('echo on'))).toBe('on\n')
})

it('CP-14 a session id opens nothing without the token, and one that is made up or over opens nothing with it', async () => {
  const server = await serveHttp()
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  const id = one.transport.sessionId ?? ''
  const authorization = `Bearer ${server.token}`
  for (const method of ['POST', 'GET', 'DELETE']) {
    expect(await statusOf(server.url, method, { 'mcp-session-id': id }, method === 'POST' ? PING : '')).toBe(401)
    expect(await statusOf(server.url, method, { authorization, 'mcp-session-id': `${id}x` }, method === 'POST' ? PING : '')).toBe(404)
  }
  expect(textOf(await one.bash('echo mine'))).toBe('mine\n')
  await one.transport.terminateSession()
  expect(await statusOf(server.url, 'POST', { authorization, 'mcp-session-id': id }, PING)).toBe(404)
  expect(textOf(await two.bash('echo mine'))).toBe('mine\n')
})

it('CP-14 initialize again within a session is refused, and the session goes on', async () => {
  const server = await serveHttp()
  const { bash: run, transport } = await connect(server, server.token)
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const session = { authorization: `Bearer ${server.token}`, 'mcp-session-id': transport.sessionId ?? '' }
  expect(await statusOf(server.url, 'POST', session, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))).toBe(400)
  expect(textOf(await run('echo on'))).toBe('on\n')
})

it('CP-14 a peer that vanishes in the middle of a stream: its session is still there for it, and ends when it does not come back', async () => {
  const server = await serveHttp({ idleMs: 1_000 })
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  started(await one.bash('echo $$ > job; exec sleep 60', { run_in_background: true }))
  await two.bash('until test -s job; do sleep 0.02; done')
  const call = asked(server, 'POST', one.transport.sessionId).on('error', () => undefined)
  call.end(bash('echo $$ > call; until test -e go; do sleep 0.02; done; touch went; exec sleep 60'))
  await once(call, 'response')
  await two.bash('until test -s call; do sleep 0.02; done')
  call.destroy()
  // A lost stream is no cancellation: the call goes on as long as the session does.
  expect(textOf(await two.bash('touch go; until test -e went; do sleep 0.02; done; echo went on'))).toBe('went on\n')
  expect(textOf(await one.bash('echo back'))).toBe('back\n')
  await one.client.close()
  for (const file of ['job', 'call']) {
    const pid = readFileSync(path.join(server.cwd, file), 'utf8').trim()
    expect(textOf(await two.bash(untilGone(pid)))).toBe('gone\n')
  }
})

it('CP-14 half a request whose peer vanishes is nothing, and its session ends in time', async () => {
  const server = await serveHttp({ idleMs: 1_000 })
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  started(await one.bash('echo $$ > job; exec sleep 60', { run_in_background: true }))
  await two.bash('until test -s job; do sleep 0.02; done')
  const half = asked(server, 'POST', one.transport.sessionId, { 'content-length': '1000' }).on('error', () => undefined)
  const written = once(half, 'socket').then(([socket]) => new Promise<void>((resolve) => socket.write('', () => resolve())))
  half.write('{"jsonrpc":"2.0","id":1,')
  await written
  await two.bash('true')
  half.destroy()
  await one.client.close()
  const pid = readFileSync(path.join(server.cwd, 'job'), 'utf8').trim()
  expect(textOf(await two.bash(untilGone(pid)))).toBe('gone\n')
})

it('CP-14 a call that is cancelled, alone or of a batch, leaves no connection behind, and its session ends in time', async () => {
  const server = await serveHttp({ idleMs: 1_000 })
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  started(await one.bash('echo $$ > job; exec sleep 60', { run_in_background: true }))
  const stream = async (name: string, wrap: (call: string) => string): Promise<{ readonly text: () => string; readonly ended: Promise<unknown> }> => {
    const call = asked(server, 'POST', one.transport.sessionId, { 'mcp-protocol-version': '2025-03-26' })
    call.end(wrap(bash(`echo > ${name}; exec sleep 60`)))
    const [response] = (await once(call, 'response')) as [IncomingMessage]
    let text = ''
    response.on('data', (chunk: Buffer) => {
      text += String(chunk)
    })
    const ended = once(response, 'end')
    await two.bash(`until test -e ${name}; do sleep 0.02; done`)
    return { text: () => text, ended }
  }
  const cancel = async (): Promise<number> => {
    const session = { authorization: `Bearer ${server.token}`, 'mcp-session-id': one.transport.sessionId ?? '' }
    return statusOf(server.url, 'POST', session, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } }))
  }
  const alone = await stream('alone', (call) => call)
  expect(await cancel()).toBe(202)
  await alone.ended
  expect(alone.text()).not.toContain('"id":7')
  // The others of its batch are answered first.
  const batch = await stream('batch', (call) => `[${call},${PING.replace('"id":1', '"id":8')}]`)
  expect(await cancel()).toBe(202)
  await batch.ended
  expect([batch.text().includes('"id":8'), batch.text().includes('"id":7')]).toEqual([true, false])
  expect(textOf(await one.bash('echo on'))).toBe('on\n')
  await one.client.close()
  const pid = readFileSync(path.join(server.cwd, 'job'), 'utf8').trim()
  expect(textOf(await two.bash(untilGone(pid)))).toBe('gone\n')
})

it('CP-14 DELETE during a call ends the call and the session, and nobody else is told anything', async () => {
  const server = await serveHttp()
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  const call = asked(server, 'POST', one.transport.sessionId)
  call.end(bash('echo $$ > call; exec sleep 60'))
  const [response] = await once(call, 'response')
  const ended = once(response, 'close')
  response.resume().on('error', () => undefined)
  await two.bash('until test -s call; do sleep 0.02; done')
  await one.transport.terminateSession()
  await ended
  const pid = readFileSync(path.join(server.cwd, 'call'), 'utf8').trim()
  expect(textOf(await two.bash(untilGone(pid)))).toBe('gone\n')
  expect(two.messages.all).toEqual([])
})

it('CP-14 a hundred sessions at once have a job each, see no other, and leave nothing; one more than there may be is refused', async () => {
  const server = await serveHttp({ maxSessions: 100 })
  const clients = await Promise.all(Array.from({ length: 100 }, () => connect(server, server.token)))
  await expect(connect(server, server.token)).rejects.toThrow('there are 100 sessions already')
  await Promise.all(clients.map(async ({ bash: run }, n) => started(await run(`echo $$ > job-${n}; exec sleep 60`, { run_in_background: true }))))
  const lists = await Promise.all(clients.map(({ call }) => call('job_list')))
  expect(
    lists.map(
      (list, n) =>
        textOf(list)
          .match(/job-\d+/g)
          ?.join() ?? n,
    ),
  ).toEqual(clients.map((_, n) => `job-${n}`))
  const [last, ...others] = clients.toReversed()
  await last?.bash('until test "$(cat job-* | wc -l)" = 100; do sleep 0.05; done')
  const pids = clients.map((_, n) => readFileSync(path.join(server.cwd, `job-${n}`), 'utf8').trim())
  await Promise.all(others.map(({ transport }) => transport.terminateSession()))
  await last?.bash(pids.slice(0, -1).map(untilGone).join('\n'))
  expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual(pids.slice(-1))
  // There is room again.
  expect(textOf(await (await connect(server, server.token)).bash('echo room'))).toBe('room\n')
})
