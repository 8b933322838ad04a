import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { identify, isAlive } from './process-identity.mjs'

/** @typedef {import('./process-identity.mjs').ProcessIdentity} ProcessIdentity */

const POLL_MS = 100
/** Breaking a lock takes microseconds, so whoever began it this long ago was killed meanwhile. */
const BREAKING_MS = 10_000

/**
 * Lets one process at a time set up the checkout. The lock is a file that names its holders: the process that took it and the
 * step it is running, because a step survives the SIGKILL of its parent and goes on writing. It is stale once none of them lives.
 */
export class SetUpLock {
  /** @type {readonly ProcessIdentity[]} */
  #holders = []
  #path

  /** @param {string} path of the lock file */
  constructor(path) {
    this.#path = path
    mkdirSync(dirname(path), { recursive: true })
  }

  /**
   * Waits until no other process holds the lock.
   *
   * @param {(pid: number) => void} [waitsFor] called once with the first holder that is in the way
   */
  async take(waitsFor) {
    for (let told = false; !this.#tryToTake(); ) {
      const holders = readHolders(this.#path)
      if (holders && !holders.some(isAlive)) {
        this.#breakStale()
        continue
      }
      if (holders?.[0] && !told) {
        told = true
        waitsFor?.(holders[0].pid)
      }
      await wait(POLL_MS)
    }
  }

  /**
   * Names the step that runs now as a second holder; undefined when it ended.
   *
   * @param {number | undefined} pid
   */
  nameStep(pid) {
    if (this.#holders.length === 0) return
    this.#holders = [identify(process.pid), ...(pid === undefined ? [] : [identify(pid)])]
    const written = this.#write()
    renameSync(written, this.#path)
  }

  release() {
    if (this.#holders.length === 0) return
    this.#holders = []
    rmSync(this.#path, { force: true })
  }

  #tryToTake() {
    this.#holders = [identify(process.pid)]
    const written = this.#write()
    try {
      // A link, and not an exclusive open: the file appears with its content, never empty.
      linkSync(written, this.#path)
      return true
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error
      this.#holders = []
      return false
    } finally {
      rmSync(written, { force: true })
    }
  }

  #write() {
    const path = `${this.#path}.${process.pid}`
    writeFileSync(path, JSON.stringify(this.#holders))
    return path
  }

  /** Two who see the same stale lock must not both remove it: the second would remove the lock of the first. So breaking is exclusive too. */
  #breakStale() {
    const breaking = `${this.#path}.breaking`
    try {
      writeFileSync(breaking, '', { flag: 'wx' })
    } catch {
      if (ageMs(breaking) > BREAKING_MS) rmSync(breaking, { force: true })
      return
    }
    try {
      const holders = readHolders(this.#path)
      if (holders && !holders.some(isAlive)) rmSync(this.#path, { force: true })
    } finally {
      rmSync(breaking, { force: true })
    }
  }
}

/**
 * @param {string} path
 * @returns {readonly ProcessIdentity[] | undefined} undefined: there is no lock any more
 */
function readHolders(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    // Unreadable content names nobody who could still be at work.
    return error instanceof SyntaxError ? [] : undefined
  }
}

/** @param {string} path */
function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs
  } catch {
    return 0
  }
}
