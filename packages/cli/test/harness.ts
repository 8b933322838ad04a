import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, onTestFinished } from 'vitest'
import { main } from '../src/index.ts'

/** A folder of the test's own, gone when it ends. */
export async function folder(files: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-cli-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, name)), { recursive: true })
    await writeFile(path.join(root, name), text)
  }
  return root
}

export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly cwd: string
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** Standard output claims to be a terminal. */
  readonly terminal?: boolean
}

/** The program in this process, with streams of its own. */
export async function tenon(args: readonly string[], { cwd, stdin = '', env = {}, terminal = false }: RunOptions): Promise<Ran> {
  const [input, output, errors] = [new PassThrough(), new PassThrough(), new PassThrough()]
  input.end(stdin)
  const stdout = Object.assign(output, { isTTY: terminal })
  const status = await main(args, {
    stdin: Object.assign(input, { isTTY: false }),
    stdout,
    stderr: Object.assign(errors, { isTTY: false }),
    env,
    cwd,
    pid: 7,
    exit: (code) => expect.fail(`the program ends the process, with ${code}`),
  })
  return { status, stdout: textOf(output), stderr: textOf(errors) }
}

function textOf(stream: PassThrough): string {
  return String(stream.read() ?? '')
}

/** A plugin by path that registers tools: `echo` gives back its text, `fail` is an error, `shell` acts as the bash tool. */
export const TOOLS_PLUGIN = `import { capability, definePlugin } from '@tenon/kernel'
const Tools = capability<any>('tools')
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: false }
const command = { type: 'object', properties: { command: { type: 'string' }, description: { type: 'string' } }, required: ['command', 'description'] }
export default definePlugin({
  name: 'test-tools',
  inject: [Tools],
  activate(scope, tools) {
    const render = (value: any) => [{ type: 'text', text: String(value.text) }]
    tools.register(scope, { name: 'echo', description: 'Gives back its text.', inputSchema: text, execute: async (args: any) => args, render })
    tools.register(scope, { name: 'fail', description: 'Fails.', inputSchema: text, execute: async () => { throw Object.assign(new Error('no luck'), { code: 'LUCK_NONE' }) } })
    tools.register(scope, { name: 'where', description: 'Tells the session.', inputSchema: {}, execute: async (_: any, call: any) => ({ text: call.session.id + ' ' + call.session.cwd }), render })
    tools.register(scope, {
      name: 'bash',
      description: 'Pretends to run.',
      inputSchema: command,
      execute: async ({ command, description }: any) => ({ kind: 'foreground', exitCode: Number(String(command).split(' ').at(-1)) || 0, text: command + ' (' + description + ')' }),
      render,
    })
  },
})
`

export const CATALOG = 'plugins:\n  tools: tools\n  mine: ./tools.ts\n'
