import { constants, existsSync, type Stats } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { constants as system } from 'node:os'
import { posix, win32 } from 'node:path'
import { SubprocessError } from '@tenon/subprocess'

type Environment = Readonly<Record<string, string>>

/** Windows, when the environment does not say. */
const DEFAULT_EXTENSIONS = '.COM;.EXE;.BAT;.CMD'

/**
 * Canonical path of the program of that name. Empty and relative entries of `PATH` are skipped: what they mean changes with the
 * working directory.
 * @throws SubprocessError EXECUTABLE_INVALID, EXECUTABLE_NOT_FOUND, EXECUTABLE_NOT_RUNNABLE; the signal's reason when it aborts
 */
export async function findExecutable(name: string, env: Environment, platform: NodeJS.Platform, signal?: AbortSignal): Promise<string> {
  signal?.throwIfAborted()
  const candidates = executableCandidates(name, env, platform)
  let unrunnable: string | undefined
  for (const candidate of candidates) {
    const found = await inspect(candidate, platform)
    signal?.throwIfAborted()
    if (found === 'runnable') {
      const path = await canonical(candidate)
      signal?.throwIfAborted()
      return path
    }
    if (found === 'unrunnable') unrunnable ??= candidate
  }
  if (unrunnable !== undefined) {
    throw new SubprocessError(
      'EXECUTABLE_NOT_RUNNABLE',
      `${unrunnable} is a directory or not executable; name a program, or make it executable (chmod +x)`,
    )
  }
  const program = `there is no program ${JSON.stringify(name)}`
  const message = isBare(name, platform)
    ? `${program} on the search path (${variable(env, 'PATH', platform) ?? 'PATH is not set'}); install it, or give its absolute path`
    : `${program}; install it there, or give the path of one that is installed`
  throw new SubprocessError('EXECUTABLE_NOT_FOUND', message)
}

/**
 * Throws what starting a program that is not there throws. For Windows, where cross-spawn would hand the name to a command interpreter,
 * which starts, and fails on its own terms.
 */
export function assertThere([name, ...args]: readonly [string, ...string[]], env: Environment): void {
  if (executableCandidates(name, env, 'win32').some((candidate) => existsSync(candidate))) return
  const facts = { errno: -system.errno.ENOENT, code: 'ENOENT', syscall: `spawn ${name}`, path: name, spawnargs: args }
  throw Object.assign(new Error(`spawn ${name} ENOENT`), facts)
}

/** All places where the program could be, in the order of search. Pure. @throws SubprocessError EXECUTABLE_INVALID */
export function executableCandidates(name: string, env: Environment, platform: NodeJS.Platform): string[] {
  const path = platform === 'win32' ? win32 : posix
  const bare = isBare(name, platform)
  if (name === '' || name.includes('\0') || (!bare && !path.isAbsolute(name))) {
    throw new SubprocessError('EXECUTABLE_INVALID', `${JSON.stringify(name)} names no program; give a bare name or an absolute path`)
  }
  const names = platform === 'win32' ? withExtensions(name, env) : [name]
  if (!bare) return names
  const directories = (variable(env, 'PATH', platform) ?? '').split(path.delimiter).map((entry) => entry.replace(/^"(.*)"$/, '$1'))
  return directories.filter((entry) => path.isAbsolute(entry)).flatMap((directory) => names.map((each) => path.join(directory, each)))
}

function withExtensions(name: string, env: Environment): string[] {
  const extensions = (variable(env, 'PATHEXT', 'win32') ?? DEFAULT_EXTENSIONS).split(';').filter((extension) => extension !== '')
  const own = win32.extname(name).toUpperCase()
  return extensions.some((extension) => extension.toUpperCase() === own) ? [name] : extensions.map((extension) => name + extension)
}

function isBare(name: string, platform: NodeJS.Platform): boolean {
  return platform === 'win32' ? !/[\\/:]/.test(name) : !name.includes('/')
}

function variable(env: Environment, name: string, platform: NodeJS.Platform): string | undefined {
  if (platform !== 'win32') return env[name]
  const key = Object.keys(env).find((each) => each.toUpperCase() === name)
  return key === undefined ? undefined : env[key]
}

async function inspect(path: string, platform: NodeJS.Platform): Promise<'runnable' | 'unrunnable' | 'missing'> {
  let facts: Stats
  try {
    facts = await stat(path)
  } catch {
    // An alias of the Windows store is a link that cannot be followed, and runs all the same.
    if (platform !== 'win32') return 'missing'
    return (await lstat(path).catch(() => undefined))?.isSymbolicLink() === true ? 'runnable' : 'missing'
  }
  if (!facts.isFile()) return 'unrunnable'
  if (platform === 'win32') return 'runnable'
  return access(path, constants.X_OK).then(
    () => 'runnable',
    () => 'unrunnable',
  )
}

/** A store alias has no canonical path but its own. */
async function canonical(path: string): Promise<string> {
  return realpath(path).catch(() => path)
}
