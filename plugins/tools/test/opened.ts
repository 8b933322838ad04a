import { Kernel } from '@tenon/kernel'
import tools from '@tenon/plugin-tools'
import { openSession, type Session } from '@tenon/session'
import { type LogLine, recordedLog } from '@tenon/testkit'
import { type CallEvent, type RawTool, type Tool, type ToolRequest, type ToolResult, Tools, type ToolsChange } from '@tenon/tools'
import { z } from 'zod'

/** A kernel with the tools row, a session, and a record of what was announced and logged. */
export class Opened implements AsyncDisposable {
  readonly kernel: Kernel
  readonly log: readonly LogLine[]
  readonly changes: ToolsChange[] = []
  readonly events: CallEvent[] = []
  tools: Tools
  session: Session

  constructor(kernel: Kernel, registry: Tools, log: readonly LogLine[]) {
    this.kernel = kernel
    this.tools = registry
    this.log = log
    this.session = openSession(kernel.scope, { id: 'test', cwd: '/' })
    registry.changed.on(kernel.scope, (change) => {
      this.changes.push(change)
    })
    registry.calls.on(kernel.scope, (event) => {
      this.events.push(event)
    })
  }

  /** Warnings and errors of the log. */
  get complaints(): readonly string[] {
    return this.log.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message)
  }

  call(name: string, args?: unknown, more: Partial<ToolRequest> = {}): Promise<ToolResult> {
    return this.tools.execute({ name, arguments: args, session: this.session, signal: new AbortController().signal, ...more })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel.close()
  }
}

export async function openTools(config?: Record<string, number>): Promise<Opened> {
  const { logger, lines } = recordedLog()
  const kernel = new Kernel({ logger })
  await kernel.load(tools, config).ready()
  return new Opened(kernel, kernel.get(Tools) as Tools, lines)
}

/** Lets everything that is due happen: promises, immediates, and what they started. */
export async function drained(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** A tool that says what it was given. */
export function echo(name = 'echo', change: Partial<Tool> = {}): Tool {
  return {
    name,
    description: 'Says what it was given.',
    input: z.strictObject({ text: z.string().describe('What to say.').default('') }),
    output: z.strictObject({ text: z.string() }),
    execute: async (input) => ({ text: (input as { text: string }).text }),
    render: (value) => [{ type: 'text', text: (value as { text: string }).text }],
    ...change,
  }
}

/** A raw tool with a body, or one that answers what it was given. */
export function raw(name: string, execute: RawTool['execute'] = async (args) => args, change: Partial<RawTool> = {}): RawTool {
  return { name, description: 'Raw.', inputSchema: { type: 'object' }, execute, ...change }
}
