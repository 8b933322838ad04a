import { mkdtemp, rm, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeepSpec } from '@tenon/kernel'

/** Where an executor's private scripts are. Data that a row keeps across reloads; the functions here are its only users. */
export interface ScriptDirectory {
  readonly parent: string
  /** Made by the first script. */
  path: Promise<string> | undefined
  written: number
  closed: boolean
}

/** What a row hands to `scope.keep`. */
export function keptScripts(parent: string): KeepSpec<ScriptDirectory> {
  return { key: 'scripts', version: 1, create: () => scriptDirectory(parent), dispose: removeScripts }
}

export function scriptDirectory(parent: string): ScriptDirectory {
  return { parent, path: undefined, written: 0, closed: false }
}

/** Writes a new file that only its owner can read, and returns its path. Leaves nothing behind when it fails. */
export async function writeScript(scripts: ScriptDirectory, extension: string, contents: string): Promise<string> {
  const name = `${++scripts.written}.${extension}`
  const made = directory(scripts)
  try {
    return await writePrivate(join(await made, name), contents)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // A cleaner of temporary files took the directory: once more, in a new one.
    if (scripts.path === made) scripts.path = undefined
    return await writePrivate(join(await directory(scripts), name), contents)
  }
}

/** Never throws: a file that is gone is what was asked for, and the directory goes with the row. */
export async function removeScript(path: string): Promise<void> {
  await unlink(path).catch(() => undefined)
}

/** No script is written any more. */
export async function removeScripts(scripts: ScriptDirectory): Promise<void> {
  scripts.closed = true
  const path = await scripts.path?.catch(() => undefined)
  if (path !== undefined) await rm(path, { recursive: true, force: true })
}

function directory(scripts: ScriptDirectory): Promise<string> {
  if (scripts.closed) return Promise.reject(new Error('the executor was removed while the command was being prepared'))
  if (scripts.path === undefined) {
    const made = mkdtemp(join(scripts.parent, 'tenon-shell-'))
    scripts.path = made
    made.catch(() => {
      if (scripts.path === made) scripts.path = undefined
    })
  }
  return scripts.path
}

async function writePrivate(path: string, contents: string): Promise<string> {
  try {
    await writeFile(path, contents, { mode: 0o600, flag: 'wx' })
    return path
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') await removeScript(path)
    throw error
  }
}
