import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { expect, it, onTestFinished } from 'vitest'
import { connect, serveCatalog } from './mcp/over-http.ts'
import { executable, folder, textOf } from './mcp/served.ts'

const PAGE = new URL('../docs/mcp.md', import.meta.url)
/** As the page has them. */
const [PROJECT, CHECKOUT] = ['/home/ada/project', '/home/ada/tenon/packages/cli/bin/tenon.js']
const TOKEN = 'a-token-of-the-environment'

interface Start {
  readonly command: string
  readonly args: readonly string[]
}

/** The blocks of the page, by language. */
async function blocks(language: string): Promise<readonly string[]> {
  const text = await readFile(PAGE, 'utf8')
  return [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].filter(([, name]) => name === language).map(([, , body]) => body ?? '')
}

/** What clients start, as each of the blocks says. */
async function starts(): Promise<readonly Start[]> {
  const json = (await blocks('json')).flatMap((text) => {
    const { mcpServers, servers } = JSON.parse(text) as Record<string, Record<string, Start>>
    return Object.values(mcpServers ?? servers ?? {})
  })
  const toml = (await blocks('toml')).map((text) => {
    const value = (key: string): unknown => JSON.parse(new RegExp(`^${key} = (.*)$`, 'm').exec(text)?.[1] ?? '')
    return { command: value('command'), args: value('args') } as Start
  })
  const added = (await blocks('sh')).flatMap((text) => {
    const [command = '', ...args] = / -- (.*)$/m.exec(text)?.[1]?.split(' ') ?? []
    return command === '' ? [] : [{ command, args }]
  })
  return [...json, ...toml, ...added]
}

/** A folder with `tenon` in it, as if it were installed. */
async function installed(root: string): Promise<string> {
  const bin = path.join(root, 'bin')
  await mkdir(bin)
  await symlink(executable, path.join(bin, 'tenon'))
  return `${bin}${path.delimiter}${process.env.PATH}`
}

it('what each block starts serves a client, from another directory, with commands in that of the project', async () => {
  const [catalog = ''] = await blocks('yaml')
  const project = await folder('')
  const own = await folder(catalog.replaceAll(PROJECT, project))
  const PATH = await installed(own)
  const all = await starts()
  expect(all.map(({ command }) => command)).toEqual(['tenon', 'node', 'tenon', 'tenon', 'tenon'])
  for (const { command, args } of all) {
    const here = args.map((arg) => arg.replace(CHECKOUT, executable).replace(`${PROJECT}/tenon.yaml`, path.join(own, 'tenon.yaml')))
    const client = new Client({ name: 'test', version: '1' })
    onTestFinished(() => client.close())
    await client.connect(new StdioClientTransport({ command, args: here, cwd: '/', env: { PATH, HOME: own }, stderr: 'ignore' }))
    expect((await client.listTools()).tools.length).toBeGreaterThan(0)
    const call = await client.callTool({ name: 'bash', arguments: { command: 'pwd', description: 'for a test' } })
    expect(textOf(call as CallToolResult)).toBe(`${project}\n`)
    await client.close()
  }
})

it('each catalog that serves HTTP takes the token of the environment', async () => {
  const [, ...catalogs] = await blocks('yaml')
  expect(catalogs).toHaveLength(2)
  for (const catalog of catalogs) {
    // The port of the page may be taken here.
    const server = await serveCatalog(catalog, ['--set', 'mcp.port=0'], { TENON_TOKEN: TOKEN })
    expect(server.token).toBeUndefined()
    expect(textOf(await (await connect(server, TOKEN)).bash('echo in'))).toBe('in\n')
    const [added = ''] = (await blocks('sh')).filter((text) => text.includes('--transport http'))
    expect(added).toContain(new URL(server.url).pathname)
    expect(added).toContain('--header "Authorization: Bearer $TENON_TOKEN"')
  }
})

it('what is said by hand is answered', async () => {
  const [script = ''] = (await blocks('sh')).filter((text) => text.startsWith('printf'))
  const cwd = await folder()
  const env = { PATH: await installed(cwd), HOME: cwd }
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { cwd, env })
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
  expect(answers).toMatchObject([
    { id: 1, result: { serverInfo: { name: 'tenon' } } },
    { id: 2, result: { content: [{ text: 'hi\n' }] } },
  ])
})

it('each way to start that the page opens with is one', async () => {
  const [script = ''] = await blocks('sh')
  const lines = script.split('\n').filter(Boolean)
  expect(lines).toHaveLength(3)
  const cwd = await folder('extends: default\n')
  await mkdir(path.join(cwd, 'path', 'to'), { recursive: true })
  await symlink(path.join(cwd, 'tenon.yaml'), path.join(cwd, 'path', 'to', 'tenon.yaml'))
  const env = { PATH: await installed(cwd), HOME: cwd }
  for (const line of lines) {
    const { stdout } = await promisify(execFile)('bash', ['-c', `echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | ${line}`], { cwd, env })
    expect([line, JSON.parse(stdout)]).toEqual([line, { jsonrpc: '2.0', id: 1, result: {} }])
  }
})
