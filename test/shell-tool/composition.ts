import { type JobEvent, Jobs } from '@tenon/jobs'
import { Kernel, type Logger, type Plugin } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import localBash from '@tenon/plugin-local-bash'
import localPwsh from '@tenon/plugin-local-pwsh'
import localSubprocess from '@tenon/plugin-local-subprocess'
import shellEnv from '@tenon/plugin-shell-env'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolBash from '@tenon/plugin-tool-bash'
import toolPwsh from '@tenon/plugin-tool-pwsh'
import tools from '@tenon/plugin-tools'
import { openSession, type Session } from '@tenon/session'
import type { Step } from '@tenon/shell/conformance'
import type { ShellToolValue } from '@tenon/shell-tool'
import { type ToolRequest, type ToolResult, Tools } from '@tenon/tools'
import { bashScript } from '../../plugins/local-bash/test/bash-script.ts'
import { playedScript, STAND_IN } from '../../plugins/local-pwsh/test/played-script.ts'

export interface Composed {
  readonly tool: 'bash' | 'pwsh'
  /** The executor; by default one on real processes: bash, or the stand-in for PowerShell. */
  readonly shell?: { readonly plugin: Plugin<undefined> }
  /** A registry with this config, and a controller that serves every session. */
  readonly jobs?: Readonly<Record<string, number>> | undefined
  readonly config?: { readonly enableRunInBackground?: boolean; readonly promoteOnTimeout?: boolean }
  readonly executor?: Readonly<Record<string, unknown>>
}

/** The rows around one shell tool, a session, and what was logged. */
export class Composition implements AsyncDisposable {
  readonly kernel: Kernel
  readonly tool: 'bash' | 'pwsh'
  readonly warnings: { readonly code?: unknown; readonly message: string }[]
  readonly session: Session

  constructor(kernel: Kernel, tool: 'bash' | 'pwsh', warnings: Composition['warnings']) {
    this.kernel = kernel
    this.tool = tool
    this.warnings = warnings
    this.session = openSession(kernel.scope, { id: 'one', cwd: '/tmp' })
  }

  get tools(): Tools {
    return this.kernel.get(Tools) as Tools
  }

  /** What happened to jobs, without `changed`. */
  readonly events: Exclude<JobEvent, { type: 'changed' }>[] = []

  get jobs(): Jobs {
    return this.kernel.get(Jobs) as Jobs
  }

  /** The events in words. */
  get story(): readonly string[] {
    return this.events.map((event) => (event.type === 'settled' ? `settled ${event.awaited ? 'awaited' : 'unawaited'}` : event.type))
  }

  get view() {
    return this.tools.get(this.tool)
  }

  call(args: unknown, more: Partial<ToolRequest> = {}): Promise<ToolResult> {
    return this.tools.execute({ name: this.tool, arguments: args, session: this.session, signal: new AbortController().signal, ...more })
  }

  run(command: string, args: Readonly<Record<string, unknown>> = {}, more: Partial<ToolRequest> = {}): Promise<ToolResult> {
    return this.call({ command, description: 'test it', ...args }, more)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel.close()
  }
}

export async function compose({ tool, shell, jobs, config, executor }: Composed): Promise<Composition> {
  const warnings: { code?: unknown; message: string }[] = []
  const warn = (fields: { code?: unknown }, message: string): void => void warnings.push({ code: fields.code, message })
  const log = { debug: () => undefined, info: () => undefined, warn, error: warn, child: () => log }
  const kernel = new Kernel({ logger: log as unknown as Logger })
  if (shell !== undefined) kernel.load(shell.plugin)
  else {
    kernel.load(localSubprocess)
    if (tool === 'bash') kernel.load(localBash, executor)
    else kernel.load(localPwsh, { ...executor, executable: STAND_IN })
  }
  kernel.load(shellEnv)
  kernel.load(tools)
  kernel.load(systemPrompt)
  if (jobs !== undefined) kernel.load(plugin(jobsPlugin), jobs)
  await kernel.load(tool === 'bash' ? toolBash : toolPwsh, config).ready()
  await kernel.settled()
  const app = new Composition(kernel, tool, warnings)
  if (jobs !== undefined) {
    app.jobs.attachController(kernel.scope, { name: 'test' })
    app.jobs.subscribe(kernel.scope, 'all', (event) => {
      if (event.type !== 'changed') app.events.push(event)
    })
  }
  return app
}

/** Of any config: a test says what it gives. */
export function plugin(one: object): Plugin {
  return one as Plugin
}

/** What the model reads. */
export function shown(result: ToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : `<${block.type}>`)).join('\n')
}

/** `no error`, or code and message. */
export function told(result: ToolResult): string {
  return result.isError ? `${result.code}: ${result.message}` : 'no error'
}

/** A command that does the same with real processes of either shell. */
export function played(tool: 'bash' | 'pwsh', ...steps: readonly Step[]): string {
  return tool === 'bash' ? bashScript(steps) : playedScript(steps)
}

/** Waits for a fact. */
export async function until<T>(look: () => T | undefined | false | 0): Promise<T> {
  for (;;) {
    const found = look()
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

export function delivered(result: ToolResult): ShellToolValue {
  if (result.isError) throw new Error(`${result.code}: ${result.message}`)
  return result.value as unknown as ShellToolValue
}
