import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ShellExecution, ShellRequest } from '@tenon/shell'
import {
  bash,
  type Confinement,
  type Dialect,
  hostOf,
  LocalShell,
  type LocalShellConfig,
  localShellConfig,
  type ShellHost,
  scriptDirectory,
} from '../src/index.ts'
import { removeScripts } from '../src/script-directory.ts'
import { ScriptedSubprocess } from './scripted-subprocess.ts'

export interface ExecutorOptions {
  readonly dialect?: Dialect
  readonly config?: Partial<LocalShellConfig>
  readonly host?: Partial<ShellHost>
  readonly confinement?: Confinement
}

/** An executor over scripted processes, and a directory to run in. */
export interface Executor {
  readonly shell: LocalShell
  readonly processes: ScriptedSubprocess
  readonly host: ShellHost
  readonly directory: string
  /** Faults that were contained. */
  readonly warnings: unknown[]
  execute(request: ShellRequest): Promise<ShellExecution>
}

export async function withExecutor(options: ExecutorOptions, body: (executor: Executor) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'tenon-local-shell-test-'))
  const scripts = scriptDirectory(directory)
  const warnings: unknown[] = []
  const host = { ...hostOf(process, scripts, (error) => warnings.push(error)), ...options.host }
  const processes = new ScriptedSubprocess()
  const config = localShellConfig(host.platform).parse({ cwd: directory, ...options.config })
  const shell = new LocalShell(options.dialect ?? bash, processes, config, host, options.confinement)
  try {
    await body({ shell, processes, host, directory, warnings, execute: (request) => shell.execute(shell.resolve(request)) })
  } finally {
    await removeScripts(scripts)
    await rm(directory, { recursive: true, force: true })
  }
}
