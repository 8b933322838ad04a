import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Beginning of the names of all private directories; random characters follow. */
export const DIRECTORY_PREFIX = 'tenon-'
/** The file in it that says who owns it. */
export const OWNER_FILE = 'owner.json'

/** Where one runtime keeps what nobody else may see: 0700, of a random name, made when first needed. */
export class PrivateDirectory {
  #base: string
  readonly #owner: string
  #path: string | undefined
  readonly #made: string[] = []
  readonly #onMade: (path: string) => void

  constructor(base: string, owner: string, onMade: (path: string) => void) {
    this.#onMade = onMade
    this.#base = base
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

  /** The next use makes one in another place. False if that is where it is. */
  move(base: string): boolean {
    if (this.#base === base) return false
    this.#base = base
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
    const path = mkdtempSync(join(this.#base, DIRECTORY_PREFIX))
    try {
      // The mode of mkdtemp passes through the umask.
      chmodSync(path, 0o700)
      writeFileSync(join(path, OWNER_FILE), this.#owner, { mode: 0o600, flag: 'wx' })
    } catch (error) {
      // Without its owner's name nobody would ever sweep it.
      rmSync(path, { recursive: true, force: true })
      throw error
    }
    this.#made.push(path)
    this.#onMade(path)
    return path
  }
}
