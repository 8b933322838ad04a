import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** Of `statfs` (linux/magic.h): tmpfs and ramfs. */
const IN_MEMORY: ReadonlySet<number> = new Set([0x01021994, 0x858458f6])

/** Where Linux has one for everybody. */
const SHARED_MEMORY = '/dev/shm'

/**
 * A directory in memory for what has a name but no contents: to make and remove a FIFO there takes a twentieth of what it takes on a disk,
 * with a journal. `$XDG_RUNTIME_DIR` is meant for just that (XDG Base Directory Specification), if it is closed to others, as that wants it.
 * Undefined where there is none that can be written to.
 */
export function memoryDirectory(runtimeDirectory: string | undefined, userId: number | undefined): string | undefined {
  if (runtimeDirectory !== undefined && isAbsolute(runtimeDirectory) && isInMemory(runtimeDirectory) && isOwn(runtimeDirectory, userId)) {
    return runtimeDirectory
  }
  return isInMemory(SHARED_MEMORY) ? SHARED_MEMORY : undefined
}

function isInMemory(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return IN_MEMORY.has(statfsSync(path).type)
  } catch {
    return false
  }
}

function isOwn(path: string, userId: number | undefined): boolean {
  const { uid, mode } = statSync(path)
  return uid === userId && (mode & 0o077) === 0
}
