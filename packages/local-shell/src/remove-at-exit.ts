import { rmSync } from 'node:fs'

/** A file may still be written into it by another thread. */
const REMOVALS = 5

const paths = new Set<string>()

/** The directory goes when this process exits. One listener of the process for all of them: Node warns of the eleventh. */
export function removeAtExit(path: string): void {
  if (paths.size === 0) process.on('exit', removeAll)
  paths.add(path)
}

/** Takes that back. */
export function forgetAtExit(path: string): void {
  paths.delete(path)
  if (paths.size === 0) process.removeListener('exit', removeAll)
}

function removeAll(): void {
  for (const path of paths) {
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: REMOVALS })
    } catch {
      // One that cannot be removed does not keep the others, nor the reason for the exit from being told.
    }
  }
}
