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
  /** Where commands run that name no directory. Absolute. Undefined if it was deleted and nobody knows its name: then each has to name one. */
  readonly cwd: string | undefined
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

/** A host whose own directory was deleted has no current one; if its name is known it is still right, and commands say themselves what is wrong. */
function currentDirectory({ cwd, env, platform }: Pick<NodeJS.Process, 'platform' | 'env' | 'cwd'>): string | undefined {
  try {
    return cwd()
  } catch {
    const { isAbsolute } = platform === 'win32' ? win32 : posix
    return env.PWD !== undefined && isAbsolute(env.PWD) ? env.PWD : undefined
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
