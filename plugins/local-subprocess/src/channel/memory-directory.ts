import { accessSync, constants, statfsSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'

/** Of `statfs` (linux/magic.h): tmpfs and ramfs. */
const IN_MEMORY: ReadonlySet<number> = new Set([0x01021994, 0x858458f6])

/** What an address of 103 bytes leaves beside the names of directory and socket. */
const MOST_BYTES = 64

/** Where Linux has one for everybody. */
const SHARED_MEMORY = '/dev/shm'

/**
 * Directories in memory for what has a name but no contents, best first: to make and remove a FIFO there takes a twentieth of what it takes on a
 * disk with a journal. `$XDG_RUNTIME_DIR` is meant for just that (XDG Base Directory Specification), if it is closed to others, as that wants it,
 * and short enough for the address of a socket.
 */
export function memoryDirectories(runtimeDirectory: string | undefined, userId: number | undefined): readonly string[] {
  const candidates = runtimeDirectory !== undefined && isOwn(runtimeDirectory, userId) ? [runtimeDirectory, SHARED_MEMORY] : [SHARED_MEMORY]
  return [...new Set(candidates)].filter(isInMemory)
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
  if (!isAbsolute(path) || Buffer.byteLength(path) > MOST_BYTES) return false
  const facts = statSync(path, { throwIfNoEntry: false })
  return facts?.uid === userId && ((facts?.mode ?? 0) & 0o077) === 0
}
