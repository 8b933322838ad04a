import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Jobs } from '@tenon/jobs'
import { Kernel, type Plugin } from '@tenon/kernel'
import jobsPlugin from '@tenon/plugin-jobs'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import shellEnv from '@tenon/plugin-shell-env'
import systemPrompt from '@tenon/plugin-system-prompt'
import toolBash from '@tenon/plugin-tool-bash'
import toolJobs from '@tenon/plugin-tool-jobs'
import toolsPlugin from '@tenon/plugin-tools'
import { type NoticeQueue, openSession, type Session } from '@tenon/session'
import { type ToolResult, Tools } from '@tenon/tools'
import { textOf } from './opened.ts'

const ROWS = [localSubprocess, localBash, shellEnv, toolsPlugin, systemPrompt, jobsPlugin, toolJobs, toolBash] as readonly Plugin[]

/** Everything that runs bash for a model, with real processes, and a session in a directory of its own. */
export class RealRows implements AsyncDisposable {
  readonly kernel: Kernel
  readonly directory: string
  readonly session: Session & { readonly notices: NoticeQueue }

  constructor(kernel: Kernel, directory: string) {
    this.kernel = kernel
    this.directory = directory
    this.session = openSession(kernel.scope, { id: 'one', cwd: directory })
  }

  get jobs(): Jobs {
    return this.kernel.get(Jobs) as Jobs
  }

  call(name: string, args: object = {}, { session = this.session as Session, signal = new AbortController().signal } = {}): Promise<ToolResult> {
    return (this.kernel.get(Tools) as Tools).execute({ name, arguments: args, session, signal })
  }

  /** What the model is shown. */
  async shown(name: string, args: object = {}, session: Session = this.session): Promise<string> {
    return textOf(await this.call(name, args, { session }))
  }

  bash(command: string, more: object = {}, session: Session = this.session): Promise<string> {
    return this.shown('bash', { command, description: 'test it', ...more }, session)
  }

  /** @returns its id */
  async background(command: string, session: Session = this.session): Promise<string> {
    const said = await this.bash(command, { run_in_background: true }, session)
    const [, id] = /^started background job (\S+)$/.exec(said) ?? []
    if (id === undefined) throw new Error(said)
    return id
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kernel.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}

/** @param config by the name of its row */
export async function openRows(config: Readonly<Record<string, object>> = {}): Promise<RealRows> {
  const kernel = new Kernel()
  await Promise.all(ROWS.map((plugin) => kernel.load(plugin, config[plugin.name] ?? {}).ready()))
  await kernel.settled()
  return new RealRows(kernel, await mkdtemp(join(tmpdir(), 'tenon-jobs-')))
}

/** Whether a process is there that has not ended: one that nobody has asked for its status has. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
