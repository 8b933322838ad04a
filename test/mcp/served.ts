import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { type CallToolResult, LoggingMessageNotificationSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { onTestFinished } from 'vitest'

export const executable = fileURLToPath(new URL('../../packages/cli/bin/tenon.js', import.meta.url))

/** A folder of the test's own with a catalog, gone when it ends. */
export async function folder(catalog = 'extends: mcp\n', files: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'tenon-mcp-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries({ 'tenon.yaml': catalog, ...files })) await writeFile(path.join(root, name), text)
  return root
}

export interface Served {
  readonly client: Client
  readonly transport: StdioClientTransport
  readonly cwd: string
  /** How often the server said that its tools have changed. */
  readonly listChanges: Facts<'changed'>
  /** Notices, as logging messages. */
  readonly messages: Facts<string>
  /** Lines of standard error. */
  readonly log: Facts<string>
  /** What the client could not make sense of. */
  readonly faults: readonly Error[]
  call(name: string, args: object): Promise<CallToolResult>
  bash(command: string, more?: object): Promise<CallToolResult>
  /** The first one is `bash-1`. Throws if it did not start. */
  background(command: string): Promise<CallToolResult>
  /** Writes the catalog and resolves when the composition has been edited. */
  edit(catalog: string): Promise<void>
}

/** `tenon mcp` under the official client. */
export async function serve({
  catalog,
  files = {},
  args = [],
}: {
  catalog?: string
  files?: Record<string, string>
  args?: string[]
} = {}): Promise<Served> {
  const cwd = await folder(catalog, files)
  const env = { PATH: process.env.PATH ?? '', HOME: cwd }
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [executable, '--log-level', 'info', 'mcp', '--watch', ...args],
    cwd,
    env,
    stderr: 'pipe',
  })
  const client = new Client({ name: 'test', version: '1' })
  const [listChanges, messages, log] = [new Facts<'changed'>(), new Facts<string>(), new Facts<string>()]
  const faults: Error[] = []
  let rest = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    const lines = `${rest}${String(chunk)}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) log.add(line)
  })
  client.onerror = (error) => void faults.push(error)
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => listChanges.add('changed'))
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => messages.add(String(params.data)))
  onTestFinished(() => client.close())
  await client.connect(transport)
  const call = async (name: string, values: object): Promise<CallToolResult> =>
    (await client.callTool({ name, arguments: { ...values } })) as CallToolResult
  const bash = (command: string, more = {}): Promise<CallToolResult> => call('bash', { command, description: 'for a test', ...more })
  return {
    ...{ client, transport, cwd, listChanges, messages, log, faults, call, bash },
    background: async (command) => started(await bash(command, { run_in_background: true })),
    async edit(text) {
      const edited = log.next((line) => line.includes('composition edited') || /^(error|rolled back)/.test(line))
      await writeFile(path.join(cwd, 'tenon.yaml'), text)
      const line = await edited
      if (!line.includes('composition edited')) throw new Error(line)
    },
  }
}

/** Otherwise a test would wait for what a job that is not there does. */
export function started(result: CallToolResult): CallToolResult {
  if (!textOf(result).startsWith('started background job')) throw new Error(textOf(result))
  return result
}

export function textOf({ content }: CallToolResult): string {
  return content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

/** What came in, and whom it is waited for by. */
export class Facts<T> {
  readonly all: T[] = []
  readonly #waiting = new Set<(fact: T) => void>()

  add(fact: T): void {
    this.all.push(fact)
    for (const look of [...this.#waiting]) look(fact)
  }

  /** The next one that fits, from now on. */
  next(fits: (fact: T) => boolean = () => true): Promise<T> {
    return new Promise((resolve) => {
      const look = (fact: T): void => {
        if (!fits(fact)) return
        this.#waiting.delete(look)
        resolve(fact)
      }
      this.#waiting.add(look)
    })
  }

  /** One that fits, also if it came before. */
  async some(fits: (fact: T) => boolean): Promise<T> {
    const found = this.all.find((fact) => fits(fact))
    return found ?? this.next(fits)
  }
}
