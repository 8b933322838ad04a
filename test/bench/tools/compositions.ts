import { Jobs } from '@tenon/jobs'
import { type Capability, Kernel, type Plugin } from '@tenon/kernel'
import jobs from '@tenon/plugin-jobs'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import shellEnv from '@tenon/plugin-shell-env'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolBash from '@tenon/plugin-tool-bash'
import toolJobs from '@tenon/plugin-tool-jobs'
import toolsPlugin from '@tenon/plugin-tools'
import { openSession, type Session } from '@tenon/session'
import { Subprocess } from '@tenon/subprocess'
import { Tools } from '@tenon/tools'
import { launcherOf } from '../../launcher-of.ts'
import { ScriptedShell } from '../../shell-tool/scripted-shell.ts'

/** An executor whose commands end as soon as they are started, and which remembers none of them. */
export function instantShell(): ScriptedShell {
  const shell = new ScriptedShell((run) => {
    shell.specs.length = 0
    shell.executions.length = 0
    run.end()
  })
  return shell
}

/** A running kernel with one session. */
export class Composition {
  readonly kernel: Kernel
  readonly session: Session

  constructor(kernel: Kernel) {
    this.kernel = kernel
    this.session = openSession(kernel.scope, { id: 'bench', cwd: '/' })
  }

  get<T>(token: Capability<T>): T {
    const value = this.kernel.get(token)
    if (value === undefined) throw new Error(`nothing provides ${token.key}`)
    return value
  }

  /** @throws Error if it is no success: a bench of failures would be a fast one */
  async call(name: string, args: object, signal = this.session.scope.signal): Promise<string> {
    const result = await this.get(Tools).execute({ name, arguments: args, session: this.session, signal })
    if (result.isError) throw new Error(`${name}: ${result.message}`)
    return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  }

  close(): Promise<void> {
    return this.kernel.close()
  }
}

export async function composed(...rows: readonly (object | readonly [plugin: object, config: object])[]): Promise<Composition> {
  const kernel = new Kernel()
  const loaded = rows.map((row) => {
    const [plugin, config] = Array.isArray(row) ? row : [row, undefined]
    return kernel.load(plugin as Plugin, config)
  })
  await Promise.all(loaded.map((row) => row.ready()))
  await kernel.settled()
  return new Composition(kernel)
}

/** The bash tool with jobs, on real processes or on the given executor. */
export async function withBash(shell?: ScriptedShell): Promise<Composition> {
  const executor = shell === undefined ? [localSubprocess, localBash] : [shell.plugin]
  const composition = await composed(...executor, shellEnv, toolsPlugin, systemPrompt, [jobs, { maxDetachedPerOwner: 64 }], toolJobs, toolBash)
  if (shell === undefined) await launcherOf(composition.get(Subprocess))
  return composition
}

/** The registry alone, with a controller that serves everybody. */
export async function withJobs(config: object = {}): Promise<Composition & { readonly jobs: Jobs }> {
  const composition = await composed([jobs, config])
  const registry = composition.get(Jobs)
  registry.attachController(composition.kernel.scope, { name: 'bench' })
  return Object.assign(composition, { jobs: registry })
}

export const tools = (): Promise<Composition> => composed(toolsPlugin)
export const prompts = (): Promise<Composition> => composed(systemPrompt)
