import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/** Absolute path → fingerprint of what was read there. Tells whether a file has become another since. */
export type SourceFiles = ReadonlyMap<string, string>

/** Of a file that could not be read. */
export const MISSING = 'missing'

export function fingerprint(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('base64')
}

export async function fingerprintOf(file: string): Promise<string> {
  return readFile(file).then(fingerprint, () => MISSING)
}

/** Whether each file holds what was read there. */
export async function stillHold(files: SourceFiles): Promise<boolean> {
  const same = await Promise.all([...files].map(async ([file, print]) => (await fingerprintOf(file)) === print))
  return !same.includes(false)
}
