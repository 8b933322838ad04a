import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, vi } from 'vitest'
import { initialize, pipe } from './mcp/piped.ts'
import { executable, folder } from './mcp/served.ts'

const bash = (command: string, more: object = {}): object => ({ name: 'bash', arguments: { command, description: 'for a test', ...more } })

it('CP-14 malformed JSON, what is no message and an unknown method are answered, and the server goes on', async () => {
  const server = await pipe()
  await initialize(server)
  const answered = server.answers.next(({ id }) => id === null)
  server.say('{"jsonrpc":"2.0","id":7,"meth')
  expect((await answered).error).toMatchObject({ code: -32700, message: expect.stringMatching(/^Parse error: /) })
  const refused = server.answers.next(({ error }) => error !== undefined)
  server.say({ id: 8, method: 'tools/list' })
  expect(await refused).toMatchObject({ id: 8, error: { code: -32600 } })
  expect(await server.request(9, 'tools/explode')).toMatchObject({ error: { code: -32601 } })
  expect(await server.request(10, 'tools/call', { name: 'bash', arguments: 'echo' })).toMatchObject({ error: { code: -32602 } })
  server.say('')
  expect(await server.request(11, 'tools/call', bash('echo on'))).toMatchObject({ result: { structuredContent: { exitCode: 0 } } })
})

it('CP-14 tools/call without parameters, and a cursor where nothing is paged, are invalid parameters', async () => {
  const server = await pipe()
  await initialize(server)
  const refused = server.answers.next(({ id }) => id === 1)
  server.say({ jsonrpc: '2.0', id: 1, method: 'tools/call' })
  expect((await refused).error).toEqual({ code: -32602, message: 'Invalid params: params: Invalid input: expected object, received undefined' })
  for (const method of ['tools/list', 'resources/list', 'resources/templates/list']) {
    expect((await server.request(2, method, { cursor: 'next' })).error).toEqual({
      code: -32602,
      message: 'Invalid params: params.cursor: unknown; the list is one page',
    })
    expect((await server.request(3, method)).error).toBeUndefined()
  }
})

it('CP-14 a message of 50 MB is refused by its size, and the next one is served', async () => {
  const server = await pipe()
  await initialize(server)
  const refused = server.answers.next(({ id }) => id === null)
  server.say(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: bash('x'.repeat(50_000_000)) }))
  expect((await refused).error).toMatchObject({
    code: -32600,
    message: expect.stringMatching(/^a message has at most 10485760 bytes, this one has 500\d{5}$/),
  })
  expect((await server.request(2, 'ping')).result).toEqual({})
})

it('CP-14 what is written before the pipe is closed is answered, also half a line, and the program ends with 0', async () => {
  const server = await pipe()
  const answer = server.answers.next(({ id }) => id === 1)
  server.say({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  })
  server.say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  server.stdin.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: bash('sleep 0.3; echo last') }))
  expect(await answer).toMatchObject({ result: { content: [{ type: 'text', text: 'last\n' }] } })
  expect(await server.exit).toBe(0)
})

it('CP-14 a call that goes on when the pipe is closed is aborted after its time, and its command is gone', async () => {
  const server = await pipe()
  await initialize(server)
  server.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: bash('echo $$ > pid; exec sleep 60') })
  await server.request(2, 'tools/call', bash('until test -s pid; do sleep 0.02; done'))
  server.stdin.end()
  expect(await server.exit).toBe(0)
  expect(existsSync(`/proc/${readFileSync(path.join(server.cwd, 'pid'), 'utf8').trim()}`)).toBe(false)
  expect(server.answers.all.some(({ id }) => id === 1)).toBe(false)
})

it('CP-14 a peer that no longer reads ends the session in order: its commands are gone', async () => {
  const server = await pipe()
  await initialize(server)
  await server.request(1, 'tools/call', bash('echo $$ > pid; exec sleep 60', { run_in_background: true }))
  await server.request(2, 'tools/call', bash('until test -s pid; do sleep 0.02; done'))
  server.stopReading()
  server.say({ jsonrpc: '2.0', id: 3, method: 'ping' })
  expect(await server.exit).toBe(0)
  expect(existsSync(`/proc/${readFileSync(path.join(server.cwd, 'pid'), 'utf8').trim()}`)).toBe(false)
})

it('CP-14 a signal ends the session in order, with its exit code', async () => {
  const server = await pipe()
  await initialize(server)
  await server.request(1, 'tools/call', bash('echo $$ > pid; exec sleep 60', { run_in_background: true }))
  await server.request(2, 'tools/call', bash('until test -s pid; do sleep 0.02; done'))
  process.kill(server.pid, 'SIGTERM')
  expect(await server.exit).toBe(143)
  expect(existsSync(`/proc/${readFileSync(path.join(server.cwd, 'pid'), 'utf8').trim()}`)).toBe(false)
})

const NOISY = `console.log('noise of an import')
import { capability, definePlugin } from '@tenon/kernel'
const Tools = capability('tools')
export default definePlugin({
  name: 'noisy',
  inject: [Tools],
  activate(scope, tools) {
    console.log('noise of an activation')
    process.stdout.write('noise without a newline')
    const inputSchema = { type: 'object', properties: {} }
    tools.register(scope, { name: 'noise', description: 'Makes noise.', inputSchema, async execute() { console.log('noise of a call'); return 'plain' } })
    tools.register(scope, {
      name: 'fault',
      description: 'Fails where nobody catches it.',
      inputSchema,
      async execute() { setTimeout(() => { throw new Error('nobody catches this') }); return 'soon' },
    })
    scope.defer(() => console.log('noise of an undo'))
  },
})
`

it('CP-13 standard output of mcp is pure protocol, with debug logs and a plugin that writes to console.log', async () => {
  const server = await pipe({
    catalog: 'extends: mcp\nplugins:\n  noisy: ./noisy.js\n',
    files: { 'noisy.js': NOISY },
    flags: ['--log-level', 'trace'],
  })
  await initialize(server)
  const { result } = await server.request(1, 'tools/call', { name: 'noise', arguments: {} })
  // A value that is no object is text alone.
  expect(result).toEqual({ content: [{ type: 'text', text: '"plain"' }] })
  server.stdin.end()
  expect(await server.exit).toBe(0)
  for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  for (const noise of ['an import', 'an activation', 'a call', 'an undo']) expect(server.stderr()).toContain(`noise of ${noise}\n`)
  expect(server.stderr()).toMatch(/"level":(10|20)/)
})

it('CP-13 an uncaught error goes to standard error, and the program closes in order with 70', async () => {
  const server = await pipe({ catalog: 'extends: mcp\nplugins:\n  noisy: ./noisy.js\n', files: { 'noisy.js': NOISY } })
  await initialize(server)
  server.say({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'fault', arguments: {} } })
  expect(await server.exit).toBe(70)
  expect(server.stderr()).toMatch(/^error: nobody catches this \(nobody caught it.*: closing\)$/m)
  expect(server.stderr()).toContain('noise of an undo')
  for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
})

it('CP-13 a catalog without the server is served too, and one that does not boot says so on standard error', async () => {
  const server = await pipe({ catalog: 'extends: minimal\n' })
  await initialize(server)
  expect((await server.request(1, 'tools/call', bash('echo hi'))).result).toMatchObject({ content: [{ text: 'hi\n' }] })
  const broken = await pipe({ catalog: 'plugins:\n  mcp: mcp-sever\n' })
  expect(await broken.exit).toBe(3)
  expect(broken.lines).toEqual([])
  expect(broken.stderr()).toContain('did you mean "mcp-server"?')
})

it('CP-14 whoever says all at once, and reads late, is answered all of it before the program ends', async () => {
  const cwd = await folder()
  const child = spawn(process.execPath, [executable, 'mcp'], { cwd, env: { PATH: process.env.PATH ?? '', HOME: cwd }, stdio: 'pipe' })
  const ended = once(child, 'close')
  const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const messages: object[] = [
    { id: 'first', method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    { id: 'job', method: 'tools/call', params: bash('echo $$ > pid; exec sleep 60', { run_in_background: true }) },
    { id: 'begun', method: 'tools/call', params: bash('until test -s pid; do sleep 0.02; done') },
    ...Array.from({ length: 500 }, (_, id) => ({ id, method: 'tools/list' })),
  ]
  child.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
  // Once the job has gone the session is over, and 5 MB are still unread.
  await vi.waitUntil(() => existsSync(path.join(cwd, 'pid')) && readFileSync(path.join(cwd, 'pid'), 'utf8') !== '', { timeout: 20_000 })
  const job = readFileSync(path.join(cwd, 'pid'), 'utf8').trim()
  await vi.waitUntil(() => !existsSync(`/proc/${job}`), { timeout: 20_000 })
  const lines = (await text(child.stdout)).split('\n').filter((line) => line !== '')
  const ids = lines.map((line) => (JSON.parse(line) as { id?: number | string }).id).filter((id) => id !== undefined)
  expect(ids.map(String).toSorted()).toEqual(['first', 'job', 'begun', ...Array(500).keys()].map(String).toSorted())
  expect(await ended).toEqual([0, null])
})
