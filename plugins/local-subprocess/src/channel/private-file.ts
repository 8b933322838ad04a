import { close, closeSync, fchmod, fchmodSync, open, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { discard } from './discard.ts'

/** The mode that a file is made with passes through the umask, which may take it from its owner too: it is set once more. */
const MODE = 0o600

/** Exclusive. */
const FLAGS = 'wx+'

const later = { open: promisify(open), fchmod: promisify(fchmod), close: promisify(close) }

/** Makes a file for its owner alone, whatever the umask. Gives back a descriptor to read and write it. @throws EEXIST if the name is taken */
export function createPrivateFile(path: string): number {
  const descriptor = openSync(path, FLAGS, MODE)
  try {
    fchmodSync(descriptor, MODE)
  } catch (error) {
    closeSync(descriptor)
    discard(path)
    throw error
  }
  return descriptor
}

/** The same; the event loop does not wait for the disk. */
export async function createPrivateFileLater(path: string): Promise<number> {
  const descriptor = await later.open(path, FLAGS, MODE)
  try {
    await later.fchmod(descriptor, MODE)
  } catch (error) {
    await later.close(descriptor)
    discard(path)
    throw error
  }
  return descriptor
}
