import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** Absolute path → fingerprint of what was read there. Tells whether a file has become another since. */
export type SourceFiles = ReadonlyMap<string, string>

/** Of a file that could not be read. */
export const MISSING = 'missing'

export function fingerprint(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('base64')
}

/**
 * A FIFO would block a thread until somebody writes, and a device for ever: neither can be read again, as a watch and an edit do.
 * @throws what `open` throws; EISDIR; Error for what is no regular file
 */
export async function readSource(file: string): Promise<Buffer> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = await handle.stat()
    if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is not a regular file')
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

export async function fingerprintOf(file: string): Promise<string> {
  return readSource(file).then(fingerprint, () => MISSING)
}

/** Whether each file holds what was read there. */
export async function stillHold(files: SourceFiles): Promise<boolean> {
  const same = await Promise.all([...files].map(async ([file, print]) => (await fingerprintOf(file)) === print))
  return !same.includes(false)
}
