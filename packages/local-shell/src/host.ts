import { lstatSync } from 'node:fs'
import { posix, win32 } from 'node:path'
import type { EnvEntries } from '@tenon/subprocess'
import type { DiscoveryInput } from './dialect.ts'
import type { ScriptDirectory } from './script-directory.ts'

/** What an executor knows of the process it lives in. */
export interface ShellHost {
  readonly platform: NodeJS.Platform
  /** Unscrubbed: discovery reads it, commands never see it. */
  readonly env: EnvEntries
  /** Where commands run that name no directory. Absolute. */
  readonly cwd: string
  /** Milliseconds of a monotonic clock. */
  now(): number
  readonly lstat: DiscoveryInput['lstat']
  /** For command texts that are too long, or not fit, for an argument. */
  readonly scripts: ScriptDirectory
  /** Told of faults of others that are contained: they change no execution. */
  warn(error: unknown, what: string): void
}

/** The host as a process of Node shows it, read once. */
export function hostOf(process: Pick<NodeJS.Process, 'platform' | 'env' | 'cwd'>, scripts: ScriptDirectory, warn: ShellHost['warn']): ShellHost {
  const { platform, env } = process
  return { platform, env: { ...env }, cwd: currentDirectory(process), now: () => performance.now(), lstat, scripts, warn }
}

/** A host whose own directory was deleted has no current one; its name is still right, and commands say so themselves. */
function currentDirectory({ cwd, env, platform }: Pick<NodeJS.Process, 'platform' | 'env' | 'cwd'>): string {
  try {
    return cwd()
  } catch (error) {
    const { isAbsolute } = platform === 'win32' ? win32 : posix
    if (env.PWD !== undefined && isAbsolute(env.PWD)) return env.PWD
    throw error
  }
}

function lstat(path: string): 'file' | 'link' | 'other' | 'missing' {
  try {
    const stats = lstatSync(path)
    if (stats.isSymbolicLink()) return 'link'
    return stats.isFile() ? 'file' : 'other'
  } catch {
    return 'missing'
  }
}
