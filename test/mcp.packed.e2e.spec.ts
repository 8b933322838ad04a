import { readdirSync, readlinkSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { textOf } from './mcp/served.ts'
import { PackedPackages } from './packed/packed-packages.ts'

let packed: PackedPackages
beforeAll(async () => {
  packed = await PackedPackages.pack()
})
afterAll(() => packed?.[Symbol.asyncDispose]())

it.runIf(process.platform === 'linux')(
  'CP-14 `npx tenon mcp` from the packed packages, in an empty folder: serves a client, and leaves no process and no file',
  async () => {
    const [project, home, temporary] = await Promise.all(['served by npx', 'home', 'temporary'].map((name) => packed.folder(name)))
    if (project === undefined || home === undefined || temporary === undefined) throw new Error('there are three folders')
    const version = packed.all.find(({ manifest }) => manifest.name === '@tenon/cli')?.manifest.version
    await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'empty', private: true, dependencies: { '@tenon/cli': version } }))
    await packed.install(project)
    const before = await readdir(project)

    const transport = new StdioClientTransport({
      command: 'npx',
      args: ['--no-install', 'tenon', 'mcp'],
      cwd: project,
      env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: temporary, npm_config_update_notifier: 'false' },
      stderr: 'ignore',
    })
    const client = new Client({ name: 'a stranger', version: '1' })
    onTestFinished(() => client.close())
    await client.connect(transport)
    expect(client.getServerVersion()).toEqual({ name: 'tenon', version })
    expect(client.getInstructions()).toContain('background job')
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['bash', 'job_kill', 'job_list', 'job_output'])
    const call = async (command: string, more = {}): Promise<string> =>
      textOf((await client.callTool({ name: 'bash', arguments: { command, description: 'try it', ...more } })) as CallToolResult)
    expect(await call('pwd')).toBe(`${project}\n`)
    expect(await call('sleep 60', { run_in_background: true })).toMatch(/^started background job/)
    // npx, a shell perhaps, the server, the job.
    expect(processesIn(project).length).toBeGreaterThanOrEqual(3)

    await client.close()
    expect(processesIn(project)).toEqual([])
    expect(await readdir(project)).toEqual(before)
    expect(await readdir(temporary)).toEqual([])
  },
)

/** Ids of the processes whose working directory it is. */
function processesIn(folder: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readlinkSync(`/proc/${name}/cwd`) === folder
    } catch {
      // Over by now, or somebody else's.
      return false
    }
  })
}
