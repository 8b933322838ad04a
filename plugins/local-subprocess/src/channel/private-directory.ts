import { chmodSync, closeSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createPrivateFile } from './private-file.ts'

/** Beginning of the names of all private directories; random characters follow. */
export const DIRECTORY_PREFIX = 'tenon-'
/** The file in it that says who owns it. */
export const OWNER_FILE = 'owner.json'

/**
 * Where one runtime keeps what nobody else may see: 0700, of a random name, made when first needed, in the first of the given places where that is
 * possible.
 */
export class PrivateDirectory {
  #bases: readonly string[]
  readonly #owner: string
  #path: string | undefined
  readonly #made: string[] = []
  readonly #onMade: (path: string) => void

  constructor(bases: readonly string[], owner: string, onMade: (path: string) => void) {
    this.#onMade = onMade
    this.#bases = bases
    this.#owner = owner
  }

  /** All that there are. */
  get made(): readonly string[] {
    return this.#made
  }

  /** @throws what mkdtemp throws */
  path(): string {
    this.#path ??= this.#make()
    return this.#path
  }

  /** The next use makes one in another place. False if these are the places there are. */
  move(bases: readonly string[]): boolean {
    if (bases.join('\0') === this.#bases.join('\0')) return false
    this.#bases = bases
    this.#path = undefined
    return true
  }

  /** Nothing can be made in it, though it is there: the next use is of the next place. False if that was the last one. */
  giveUp(): boolean {
    if (this.#path === undefined) return false
    const at = this.#bases.indexOf(dirname(this.#path))
    if (at === this.#bases.length - 1) return false
    this.#bases = this.#bases.slice(at + 1)
    this.#path = undefined
    return true
  }

  /** The next use makes a fresh one, if this one is gone. */
  renew(): void {
    if (this.#path !== undefined && !existsSync(this.#path)) this.#path = undefined
  }

  async remove(): Promise<void> {
    this.#path = undefined
    await Promise.all(this.#made.splice(0).map((path) => rm(path, { recursive: true, force: true })))
  }

  removeSync(): void {
    this.#path = undefined
    for (const path of this.#made.splice(0)) rmSync(path, { recursive: true, force: true })
  }

  #make(): string {
    let fault: unknown
    for (const base of this.#bases) {
      try {
        return this.#makeIn(base)
      } catch (error) {
        fault = error
      }
    }
    throw fault
  }

  #makeIn(base: string): string {
    const path = mkdtempSync(join(base, DIRECTORY_PREFIX))
    try {
      // The mode of mkdtemp passes through the umask.
      chmodSync(path, 0o700)
      this.#claim(path)
    } catch (error) {
      // Without its owner's name nobody would ever sweep it.
      rmSync(path, { recursive: true, force: true })
      throw error
    }
    this.#made.push(path)
    this.#onMade(path)
    return path
  }

  #claim(path: string): void {
    const descriptor = createPrivateFile(join(path, OWNER_FILE))
    try {
      writeFileSync(descriptor, this.#owner)
    } finally {
      closeSync(descriptor)
    }
  }
}
