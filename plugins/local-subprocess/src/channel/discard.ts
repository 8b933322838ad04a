import { unlinkSync } from 'node:fs'

/** Removes a name that nobody needs any more. If it is gone already, that is what was wanted; what cannot be removed goes with its directory. */
export function discard(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A cleaner was faster, or the file system is read-only by now.
  }
}
