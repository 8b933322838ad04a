import { statSync } from 'node:fs'
import { type SpawnSpec, SubprocessError } from '@tenon/subprocess'

/** Says what stood in the way; `cause` is the very object the platform raised. */
export function startFailure(spec: Pick<SpawnSpec, 'argv' | 'cwd'>, cause: unknown): SubprocessError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  const advice = adviceFor((cause as NodeJS.ErrnoException | undefined)?.code, spec)
  return new SubprocessError('SPAWN_FAILED', `cannot start ${spec.argv[0]}: ${reason}${advice === undefined ? '' : `; ${advice}`}`, { cause })
}

/** The platform blames the program for a working directory that is not there. */
function adviceFor(code: string | undefined, spec: Pick<SpawnSpec, 'cwd'>): string | undefined {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EACCES':
      return directoryFault(spec.cwd) ?? (code === 'ENOENT' ? 'is the program installed, and on the PATH that the child would see?' : undefined)
    case 'E2BIG':
      return 'arguments and environment are too long together, or one of them is; pass the data through a file or the standard input'
    case 'EMFILE':
    case 'ENFILE':
      return 'no file descriptor is left; close some, or raise the limit (ulimit -n)'
    case 'EAGAIN':
      return 'no process is left; end some, or raise the limit (ulimit -u)'
    default:
      return undefined
  }
}

function directoryFault(cwd: string): string | undefined {
  try {
    return statSync(cwd).isDirectory() ? undefined : `its working directory ${cwd} is not a directory`
  } catch (error) {
    return `its working directory ${cwd} cannot be used (${(error as NodeJS.ErrnoException).code ?? String(error)})`
  }
}
