import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm, unlink } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { KeepSpec } from '@tenon/kernel'
import { forgetAtExit, removeAtExit } from './remove-at-exit.ts'

/** Where an executor's private scripts are. Data that a row keeps across reloads; the functions here are its only users. */
export interface ScriptDirectory {
  /** Absolute. */
  readonly parent: string
  /** Made by the first script. */
  path: string | undefined
  written: number
  closed: boolean
}

/** What a row hands to `scope.keep`. */
export function keptScripts(parent: string): KeepSpec<ScriptDirectory> {
  return { key: 'scripts', version: 2, create: () => scriptDirectory(parent), dispose: removeScripts }
}

/** A relative `parent` is one of the host's directory at this moment: commands run in others, and the host may go to another. */
export function scriptDirectory(parent: string): ScriptDirectory {
  return { parent: resolve(parent), path: undefined, written: 0, closed: false }
}

/** Writes a new file that only its owner can read, and returns its path. Leaves nothing behind when it fails. */
export async function writeScript(scripts: ScriptDirectory, extension: string, contents: string): Promise<string> {
  const name = `${++scripts.written}.${extension}`
  const made = directory(scripts)
  try {
    return await writePrivate(join(made, name), contents)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // A cleaner of temporary files took the directory: once more, in a new one.
    if (scripts.path === made) forget(scripts)
    return await writePrivate(join(directory(scripts), name), contents)
  }
}

/** Never throws: a file that is gone is what was asked for, and the directory goes with the row. */
export async function removeScript(path: string): Promise<void> {
  await unlink(path).catch(() => undefined)
}

/** No script is written any more. */
export async function removeScripts(scripts: ScriptDirectory): Promise<void> {
  scripts.closed = true
  const { path } = scripts
  if (path === undefined) return
  await rm(path, { recursive: true, force: true })
  forget(scripts)
}

/** Made in one step: there is no moment in which it is there and the end of the process knows nothing of it. */
function directory(scripts: ScriptDirectory): string {
  if (scripts.closed) throw new Error('the executor was removed while the command was being prepared')
  if (scripts.path === undefined) {
    scripts.path = makePrivate(scripts.parent)
    removeAtExit(scripts.path)
  }
  return scripts.path
}

function forget(scripts: ScriptDirectory): void {
  if (scripts.path !== undefined) forgetAtExit(scripts.path)
  scripts.path = undefined
}

/** Modes that files and directories are made with pass through the umask, which may take them from their owner too: they are set once more. */
const FILE_MODE = 0o600
const DIRECTORY_MODE = 0o700

function makePrivate(parent: string): string {
  const path = mkdtempSync(join(parent, 'tenon-shell-'))
  try {
    chmodSync(path, DIRECTORY_MODE)
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    throw error
  }
  return path
}

async function writePrivate(path: string, contents: string): Promise<string> {
  const file = await open(path, 'wx', FILE_MODE)
  try {
    await fill(file, contents)
    return path
  } catch (error) {
    await removeScript(path)
    throw error
  }
}

async function fill(file: FileHandle, contents: string): Promise<void> {
  try {
    await file.chmod(FILE_MODE)
    await file.writeFile(contents)
  } finally {
    await file.close()
  }
}
