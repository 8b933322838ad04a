import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import { executable, Facts, folder } from './served.ts'

interface Answer {
  readonly id?: number | string | null
  readonly result?: { readonly [key: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string }
  readonly method?: string
}

/** JSON-RPC by hand over a pipe. Every line of standard output has to be a message. */
export interface Piped {
  readonly pid: number
  readonly cwd: string
  readonly stdin: Writable
  readonly answers: Facts<Answer>
  readonly lines: readonly string[]
  /** All of standard error so far. */
  stderr(): string
  say(message: object | string): void
  request(id: number, method: string, params?: object): Promise<Answer>
  /** Nobody reads the program's output any more. */
  stopReading(): void
  readonly exit: Promise<number | null>
  /** Of a program that listens: sends a message and resolves with the next that comes back. */
  tell(message: object | string): Promise<unknown>
}

export interface PipeOptions {
  readonly catalog?: string
  readonly files?: Record<string, string>
  /** Before the command. */
  readonly flags?: readonly string[]
  /** Behind it. */
  readonly args?: readonly string[]
  /** In place of `tenon mcp`. */
  readonly program?: string
}

export async function pipe({ catalog, files = {}, flags = [], args = [], program }: PipeOptions = {}): Promise<Piped> {
  const cwd = await folder(catalog, files)
  const command = program === undefined ? [executable, ...flags, 'mcp', ...args] : [program]
  const env = { PATH: process.env.PATH ?? '', HOME: cwd }
  const child = spawn(process.execPath, command, { cwd, env, stdio: ['pipe', 'pipe', 'pipe', ...(program === undefined ? [] : ['ipc' as const])] })
  const [input, output, errorOutput] = [child.stdin, child.stdout, child.stderr]
  if (input === null || output === null || errorOutput === null) throw new Error('the child has no pipes')
  const exit = once(child, 'close').then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await exit
  })
  const answers = new Facts<Answer>()
  const lines: string[] = []
  let [rest, errors] = ['', '']
  input.on('error', () => undefined)
  errorOutput.on('data', (chunk: Buffer) => {
    errors += String(chunk)
  })
  output.on('data', (chunk: Buffer) => {
    const parts = `${rest}${String(chunk)}`.split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    for (const line of parts) answers.add(JSON.parse(line) as Answer)
  })
  const say = (message: object | string): void => {
    input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
  }
  const request = (id: number, method: string, params = {}): Promise<Answer> => {
    const answer = answers.next((candidate) => candidate.id === id)
    say({ jsonrpc: '2.0', id, method, params })
    return answer
  }
  const piped = { pid: child.pid ?? 0, cwd, stdin: input, answers, lines, stderr: () => errors, say, request, exit }
  const tell = async (message: object | string): Promise<unknown> => {
    const back = once(child, 'message')
    child.send(message)
    return (await back)[0]
  }
  return { ...piped, tell, stopReading: () => void output.destroy() }
}

export async function initialize({ request, say }: Piped): Promise<Answer> {
  const clientInfo = { name: 'by hand', version: '1' }
  const answer = await request(0, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  say({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return answer
}
