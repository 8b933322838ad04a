import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { catalogRows } from './mcp/catalog-rows.ts'
import { connect, serveHttp, statusOf } from './mcp/over-http.ts'
import { started, textOf } from './mcp/served.ts'

const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' })

it('CP-14 two sessions at once are fenced: jobs and notices of their own', async () => {
  const server = await serveHttp()
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  await one.bash('until test -e go; do sleep 0.02; done; echo of one', { run_in_background: true })
  expect(textOf(await one.call('job_list'))).toMatch(/^bash-1 \[bash\] running/)
  expect(textOf(await two.call('job_list'))).toBe('(no background jobs)')
  expect(await two.call('job_output', { job_id: 'bash-1' })).toMatchObject({ isError: true, _meta: { 'tenon/code': 'JOB_FOREIGN' } })
  const told = one.messages.next()
  await two.bash('touch go')
  const notice = await told
  expect((await two.bash('true')).content).toHaveLength(1)
  expect((await one.bash('true')).content).toEqual([
    { type: 'text', text: '(no output)' },
    { type: 'text', text: notice },
  ])
  expect((await one.bash('true')).content).toHaveLength(1)
  expect(two.messages.all).toEqual([])
})

it('CP-14 a session ends with its client, and takes its jobs along; the other one goes on', async () => {
  const server = await serveHttp({ idleMs: 1_000 })
  const [one, two] = [await connect(server, server.token), await connect(server, server.token)]
  const pidOf = async (client: typeof one, file: string): Promise<string> => {
    await client.bash(`echo $$ > ${file}; exec sleep 60`, { run_in_background: true })
    await client.bash(`until test -s ${file}; do sleep 0.02; done`)
    return readFileSync(path.join(server.cwd, file), 'utf8').trim()
  }
  const [ofOne, ofTwo] = [await pidOf(one, 'one'), await pidOf(two, 'two')]
  await one.transport.terminateSession()
  expect(textOf(await two.bash(`while kill -0 ${ofOne} 2>/dev/null; do sleep 0.02; done; echo gone`))).toBe('gone\n')
  expect(existsSync(`/proc/${ofTwo}`)).toBe(true)
  // A client that vanishes says nothing: its streams are closed, and it comes back no more.
  const three = await connect(server, server.token)
  const ofThree = await pidOf(three, 'three')
  await three.client.close()
  expect(textOf(await two.bash(`while kill -0 ${ofThree} 2>/dev/null; do sleep 0.02; done; echo gone`))).toBe('gone\n')
  expect(existsSync(`/proc/${ofTwo}`)).toBe(true)
})

it('CP-14 who has no token, comes from a web page or by another name is kept out', async () => {
  const token = 'a-token-of-the-configuration'
  const server = await serveHttp({ token, allowedOrigins: ['http://pages.test'] })
  expect(server.token).toBeUndefined()
  const { url } = server
  const authorization = `Bearer ${token}`
  expect(await statusOf(url, 'POST', {}, PING)).toBe(401)
  expect(await statusOf(url, 'POST', { authorization: 'Bearer a-token-of-somebody-else' }, PING)).toBe(401)
  expect(await statusOf(url, 'POST', { authorization, host: 'evil.test' }, PING)).toBe(403)
  expect(await statusOf(url, 'POST', { authorization, origin: 'http://evil.test' }, PING)).toBe(403)
  expect(await statusOf(url.replace(/mcp$/, 'other'), 'POST', { authorization }, PING)).toBe(404)
  expect(await statusOf(url, 'POST', { authorization, 'mcp-session-id': 'mcp-none' }, PING)).toBe(404)
  // In, but without a session of its own.
  expect(await statusOf(url, 'POST', { authorization, origin: 'http://pages.test' }, PING)).toBe(400)
  expect(textOf(await (await connect(server, token)).bash('echo in'))).toBe('in\n')
})

it('CP-09 a port that is taken is refused and the old address stays; a free one is moved to under a connected client', async () => {
  const [other, server] = [await serveHttp(), await serveHttp()]
  const { bash } = await connect(server, server.token)
  const taken = new URL(other.url).port
  const refused = server.said.next((line) => line.includes(`cannot listen on 127.0.0.1:${taken}`))
  server.console.write(`set mcp.port=${taken}\n`)
  await refused
  expect(textOf(await bash('echo still here'))).toBe('still here\n')
  const moved = server.said.next((line) => line.includes('serving MCP over HTTP'))
  server.console.write('set mcp.host=localhost\n')
  const { url } = JSON.parse(await moved) as { url: string }
  expect(textOf(await (await connect({ ...server, url }, server.token)).bash('echo anew'))).toBe('anew\n')
  expect(
    await statusOf(server.url, 'POST', { authorization: `Bearer ${server.token}` }, PING).catch((error: NodeJS.ErrnoException) => error.code),
  ).toBe('ECONNREFUSED')
})

it('CP-09 each row of the catalog is reloaded under clients over HTTP: sessions, jobs and calls go on', async () => {
  const server = await serveHttp()
  const { bash, call, listChanges } = await connect(server, server.token)
  started(await bash('until test -e end; do sleep 0.02; done; echo ended', { run_in_background: true }))
  const waiting = bash('touch begun; until test -e go; do sleep 0.02; done; echo done')
  await bash('until test -e begun; do sleep 0.02; done')
  for (const row of await catalogRows()) {
    const reloaded = server.said.next((line) => line.includes('reloaded') || line.includes('replaced') || line.includes('error'))
    server.console.write(`reload ${row}\n`)
    expect(await reloaded).toContain(row)
    expect(textOf(await bash('echo here'))).toBe('here\n')
  }
  await bash('touch go end')
  expect(textOf(await waiting)).toMatch(/^done\n/)
  expect(textOf(await call('job_output', { job_id: 'bash-1', wait: true }))).toMatch(/^ended\n\[status: completed, exit code: 0\]/)
  expect(listChanges.all).toEqual([])
})
