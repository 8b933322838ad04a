import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { initialize, type Piped, pipe } from './mcp/piped.ts'
import { executable, folder, type Served, serve, textOf } from './mcp/served.ts'

const program = fileURLToPath(new URL('./programs/mcp-in-kernel.js', import.meta.url))

const ROW = 'extends: default\nplugins:\n  mcp: { use: mcp-server }\n'
const TOOLS = 'plugins:\n  tools: tools\n  count: ./count.js\n'
const NO_TOOLS = 'plugins:\n  shell-env: shell-env\n'

/** A tool that says how often it has been called. */
const COUNT = `import { capability, definePlugin } from '@tenon/kernel'
let calls = 0
export default definePlugin({
  name: 'count',
  inject: [capability('tools')],
  activate(scope, tools) {
    const inputSchema = { type: 'object', properties: {} }
    tools.register(scope, { name: 'count', description: 'Counts its calls.', inputSchema, execute: async () => ++calls })
  },
})
`

/** A command of \`tenon\` that reads \`input\`, in a folder with a catalog. */
async function ran(args: readonly string[], input = '', catalog = ROW) {
  const cwd = await folder(catalog)
  const child = spawn(process.execPath, [executable, ...args], { cwd, env: { PATH: process.env.PATH ?? '', HOME: cwd }, stdio: 'pipe' })
  const closed = once(child, 'close')
  child.stdin.end(input)
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [status] = await closed
  return { status, stdout, stderr, idle: stderr.split('\n').filter((line) => line.includes('serves nothing')) }
}

/** How often each id has been answered. */
function answersTo({ answers }: Piped): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { id } of answers.all) if (id !== undefined) counts[String(id)] = (counts[String(id)] ?? 0) + 1
  return counts
}

const count = async (server: Served): Promise<string> => textOf(await server.call('count', {}))

it('CP-13 `call` with a catalog for `mcp` prints its result on standard output, and says once that the row serves nothing', async () => {
  const { status, stdout, idle } = await ran(['call', 'bash', '{"command":"echo hi","description":"say hi"}'])
  expect([status, stdout]).toEqual([0, 'hi\n'])
  expect(idle).toEqual([expect.stringMatching(/row \\"mcp\\" serves nothing: .*`tenon mcp`.* transport: http/)])
})

it('CP-13 a scripted `run` with such a catalog has its own input and output, also when the row is changed, taken out and put in', async () => {
  const script = ['! echo one', 'set mcp.drainMs=5', 'reload mcp', 'disable mcp', '! echo two', 'enable mcp', '! echo three', 'tools'].join('\n')
  const { status, stdout, idle } = await ran(['run'], script)
  expect(status).toBe(0)
  for (const line of ['one', 'two', 'three']) expect(stdout.split('\n')).toContain(line)
  expect(stdout).not.toContain('jsonrpc')
  // Once for the row that was there, once for the one that was put in.
  expect(idle).toHaveLength(2)
})

it('CP-13 a row that changes from HTTP to stdio in a console closes its port, and leaves the console its input', async () => {
  const http = 'extends: default\nplugins:\n  mcp: { use: mcp-server, with: { transport: http, port: 0 } }\n'
  const { status, stdout, stderr, idle } = await ran(['run'], 'set mcp.transport=stdio\n! echo after\n', http)
  expect([status, stdout.split('\n')]).toEqual([0, expect.arrayContaining(['after'])])
  const [, url = ''] = /"url":"([^"]+)"/.exec(stderr) ?? []
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  expect(idle).toHaveLength(1)
})

it('CP-14 a second row over stdio that an edit brings serves nothing, says so, and goes again: each request is answered once', async () => {
  const server = await serve({ catalog: TOOLS, files: { 'count.js': COUNT } })
  expect(await count(server)).toBe('1')
  const told = server.log.next((line) => line.includes('serves nothing'))
  // Both ids: that of a row the program could have added, and another.
  await server.edit(`${TOOLS}  server: mcp-server\n  mcp: mcp-server\n`)
  expect(await told).toMatch(/row \\"(server|mcp)\\" serves nothing: the row \\"tenon:mcp\\" has standard input and output/)
  expect(await count(server)).toBe('2')
  await server.edit(TOOLS)
  expect(await count(server)).toBe('3')
  expect(server.faults).toEqual([])
})

it('CP-14 the row of the file has standard input and output, whatever other rows come and go', async () => {
  const catalog = `${TOOLS}  mcp: mcp-server\n`
  const server = await pipe({ catalog, files: { 'count.js': COUNT }, flags: ['--log-level', 'info'], args: ['--watch'] })
  await initialize(server)
  const edited = async (text: string, told: string): Promise<void> => {
    await writeFile(path.join(server.cwd, 'tenon.yaml'), text)
    await vi.waitUntil(() => server.stderr().includes(told), { timeout: 20_000 })
  }
  const counted = (id: number): Promise<unknown> => server.request(id, 'tools/call', { name: 'count', arguments: {} })
  await edited(`${catalog}  a-server: mcp-server\n`, 'row \\"a-server\\" serves nothing: the row \\"mcp\\" has standard input and output')
  expect(await counted(1)).toMatchObject({ result: { content: [{ text: '1' }] } })
  await edited(catalog, '"removed":["a-server"]')
  expect(await counted(2)).toMatchObject({ result: { content: [{ text: '2' }] } })
  server.stdin.end()
  expect(await server.exit).toBe(0)
  expect(answersTo(server)).toEqual({ 0: 1, 1: 1, 2: 1 })
})

it('CP-14 a program of its own gives the streams to one row of a kernel: the other serves nothing, and may go; without the one they are released', async () => {
  const server = await pipe({ program })
  expect(await initialize(server)).toMatchObject({ result: { serverInfo: { name: 'tenon' } } })
  const idle = 'row \\"other\\" serves nothing: the row \\"mcp\\" has standard input and output'
  await vi.waitUntil(() => server.stderr().includes(idle), { timeout: 20_000 })
  expect(await server.tell('other')).toBe('unloaded')
  expect(await server.request(1, 'tools/list')).toMatchObject({ result: { tools: [] } })
  void server.tell('mcp').catch(() => undefined)
  expect(await server.exit).toBe(0)
  expect(answersTo(server)).toEqual({ 0: 1, 1: 1 })
})

it('CP-14 a catalog without a system prompt is served, without instructions; an edit that takes it away harms nobody', async () => {
  const plain = await serve({ catalog: TOOLS, files: { 'count.js': COUNT } })
  expect(plain.client.getInstructions()).toBeUndefined()
  expect(await count(plain)).toBe('1')
  const server = await serve({ catalog: `${TOOLS}  system-prompt: system-prompt\n`, files: { 'count.js': COUNT } })
  await server.edit(TOOLS)
  expect(await count(server)).toBe('1')
})

it('CP-14 an edit that takes the tools away leaves the client connected: what it says waits until they are back', async () => {
  const server = await serve({ catalog: TOOLS, files: { 'count.js': COUNT } })
  expect(await count(server)).toBe('1')
  const waits = server.log.some((line) => line.includes('row "tenon:mcp" waits for "tools"'))
  await server.edit(NO_TOOLS)
  expect(await waits).toContain('what the client says waits as long')
  const waiting = count(server)
  await server.edit(TOOLS)
  // The row that counts has come anew, and begins anew.
  expect(await waiting).toBe('1')
  expect(server.faults).toEqual([])
})

it('CP-14 a client that goes away while the server waits for tools ends the program in order', async () => {
  const server = await pipe({ catalog: TOOLS, files: { 'count.js': COUNT }, args: ['--watch'] })
  await initialize(server)
  await writeFile(path.join(server.cwd, 'tenon.yaml'), NO_TOOLS)
  await vi.waitUntil(() => server.stderr().includes('waits for "tools"'), { timeout: 20_000 })
  server.stdin.end()
  expect(await server.exit).toBe(0)
})

it.each([
  ['is taken away', `${TOOLS}`],
  ['gets another transport', `${TOOLS}  server: { use: mcp-server, with: { transport: http, port: 0 } }\n`],
])('CP-14 when the row that serves %s the session is over, and the log says why', async (_what, edited) => {
  const server = await pipe({ catalog: `${TOOLS}  server: mcp-server\n`, files: { 'count.js': COUNT }, args: ['--watch'] })
  await initialize(server)
  await writeFile(path.join(server.cwd, 'tenon.yaml'), edited)
  expect(await server.exit).toBe(0)
  expect(server.stderr()).toContain('the row "server" serves standard input and output no more: the session is over')
})

it('CP-13 mcp --watch tells of edits on standard error as run does: what is refused with its places and hints, what is applied, what is rolled back', async () => {
  const taking =
    "import { definePlugin } from '@tenon/kernel'\nexport default definePlugin({ name: 'taking', activate() { throw new Error('too much') } })\n"
  const server = await pipe({ catalog: ROW, files: { 'taking.js': taking }, args: ['--watch'] })
  await initialize(server)
  const edited = async (text: string, told: string): Promise<void> => {
    await writeFile(path.join(server.cwd, 'tenon.yaml'), text)
    await vi.waitUntil(() => server.stderr().includes(told), { timeout: 20_000 })
  }
  await edited('extends: default\nplugins:\n  mcp: mcp-sever\n  tools: { with: { abortGraceMs: soon } }\n  shel: { with: {} }\n', '3 errors\n')
  expect(server.stderr()).toContain('did you mean "mcp-server"?')
  for (const place of ['tenon.yaml:3:8', 'tenon.yaml:4:34', 'tenon.yaml:5:3']) expect(server.stderr()).toContain(place)
  expect(server.stderr()).toMatch(/^3 \| {3}mcp: mcp-sever\n {2}\| {8}\^{9}$/m)
  await edited('extends: default\nplugins:\n  mcp: { use: mcp-server, with: { drainMs: 900 } }\n', 'reconfigured mcp; 8 untouched\n')
  await edited(`${ROW}  taking: ./taking.js\n`, 'rolled back, because row "taking": activation failed: too much\n')
  expect(server.stderr()).not.toContain('was not applied')
  expect((await server.request(1, 'ping')).result).toEqual({})
})

it('CP-13 a client that goes away is no reason for words', async () => {
  const server = await pipe({ catalog: `${TOOLS}  server: mcp-server\n`, files: { 'count.js': COUNT } })
  await initialize(server)
  server.stdin.end()
  expect(await server.exit).toBe(0)
  expect(server.stderr()).not.toContain('the session is over')
})
