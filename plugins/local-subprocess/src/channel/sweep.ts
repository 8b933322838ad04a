import { lstat, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Owner } from './owner.ts'
import { DIRECTORY_PREFIX, OWNER_FILE } from './private-directory.ts'

export interface SweepParts {
  /** Who asks: only directories of the same machine are judged. */
  readonly self: Owner
  readonly isAlive: (owner: Owner) => boolean
  readonly userId: number | undefined
}

/**
 * Removes the private directories of runtimes whose process is gone: nothing ran there when they were killed. A directory is left
 * alone unless its owner is certain to be dead, and unless it is this user's and closed to others. Never throws.
 */
export async function sweep(base: string, parts: SweepParts): Promise<string[]> {
  const names = await readdir(base).catch(() => [])
  const removed: string[] = []
  for (const name of names) {
    if (!name.startsWith(DIRECTORY_PREFIX)) continue
    const path = join(base, name)
    if (!(await isOurs(path, parts.userId))) continue
    const owner = await readOwner(path)
    if (owner === undefined || !isDead(owner, parts)) continue
    await rm(path, { recursive: true, force: true }).then(
      () => removed.push(path),
      () => undefined,
    )
  }
  return removed
}

/** Pids mean something within one boot of one machine and one namespace only. After a reboot nothing of the earlier boot lives. */
function isDead(owner: Owner, { self, isAlive }: SweepParts): boolean {
  if (owner.machine !== self.machine) return false
  if (owner.boot !== self.boot) return owner.boot !== undefined && self.boot !== undefined
  return owner.namespace === self.namespace && !isAlive(owner)
}

async function isOurs(path: string, userId: number | undefined): Promise<boolean> {
  const facts = await lstat(path).catch(() => undefined)
  return facts?.isDirectory() === true && (userId === undefined || facts.uid === userId) && (facts.mode & 0o077) === 0
}

async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const owner: unknown = JSON.parse(await readFile(join(path, OWNER_FILE), 'utf8'))
    return typeof owner === 'object' && owner !== null && Number.isInteger((owner as Owner).pid) ? (owner as Owner) : undefined
  } catch {
    return undefined
  }
}
