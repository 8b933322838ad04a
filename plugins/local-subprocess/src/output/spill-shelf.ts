import { closeSync, constants, close as fsClose, fstat, openSync, readSync, statfs, unlink, writev } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { PrivateDirectory } from '../channel/private-directory.ts'
import { createPrivateFileLater } from '../channel/private-file.ts'
import type { Clock } from '../clock.ts'
import type { Warnings } from '../warnings.ts'
import type { World } from '../world.ts'
import type { SpillFile } from './spill-file.ts'

/** What spilling does to the file system. */
export interface SpillFiles {
  /** Exclusive, 0600 whatever the umask. */
  create(path: string): Promise<number>
  /** Resolves with the bytes written, which may be fewer. */
  write(descriptor: number, buffers: readonly Buffer[], position: number): Promise<number>
  /** Names the file still has. */
  links(descriptor: number): Promise<number>
  close(descriptor: number): Promise<void>
  unlink(path: string): Promise<void>
  freeBytes(directory: string): Promise<number>
  /** Fills `target` from `position` on. Throws if the file is gone or shorter. */
  readSync(path: string, position: number, target: Buffer): void
}

export interface SpillLimits {
  /** Spilling stops when the file system has less. */
  readonly minFreeBytes: number
  /** All files of the runtime together; beyond it the oldest goes. */
  readonly retainedSpillBytes: number
}

/** The spill files of one runtime, oldest first. */
export class SpillShelf {
  readonly files: SpillFiles
  readonly clock: Clock
  readonly #directory: PrivateDirectory
  readonly #warnings: Warnings
  readonly #randomName: () => string
  readonly #oldestFirst = new Set<SpillFile>()
  #bytes = 0
  /** Replaced by each activation. */
  limits: SpillLimits

  constructor(directory: PrivateDirectory, warnings: Warnings, limits: SpillLimits, outside: Pick<World, 'files' | 'clock' | 'randomName'>) {
    this.#directory = directory
    this.#warnings = warnings
    this.limits = limits
    this.files = outside.files
    this.clock = outside.clock
    this.#randomName = outside.randomName
  }

  /** A new file of a random name. @throws what the file system throws, or ENOSPC when it is nearly full */
  async create(): Promise<{ readonly path: string; readonly descriptor: number }> {
    try {
      return await this.#create()
    } catch (error) {
      // A cleaner took the directory: once more, in a fresh one.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      this.#directory.renew()
      return this.#create()
    }
  }

  async #create(): Promise<{ readonly path: string; readonly descriptor: number }> {
    await this.assertRoom()
    const path = join(this.#directory.path(), `${this.#randomName()}.out`)
    return { path, descriptor: await this.files.create(path) }
  }

  /** @throws when the file system is nearly full, or cannot be asked */
  async assertRoom(): Promise<void> {
    const free = await this.files.freeBytes(this.#directory.path())
    if (free < this.limits.minFreeBytes) {
      throw Object.assign(new Error(`${free} bytes are free, minFreeBytes is ${this.limits.minFreeBytes}`), { code: 'ENOSPC' })
    }
  }

  add(file: SpillFile): void {
    this.#oldestFirst.add(file)
  }

  remove(file: SpillFile): void {
    if (this.#oldestFirst.delete(file)) this.#bytes -= file.bytes
  }

  grew(bytes: number): void {
    this.#bytes += bytes
    for (const oldest of this.#oldestFirst) {
      if (this.#bytes <= this.limits.retainedSpillBytes) return
      oldest.withdraw()
    }
  }

  /** Never thrown at anybody: the stream goes on as a tail. One warning per runtime and cause. */
  fault(what: 'write' | 'close' | 'delete', error: unknown): void {
    const code = (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown'
    // A cleaner was faster.
    if (what === 'delete' && code === 'ENOENT') return
    this.#warnings.once(`spill ${what} ${code}`, { err: error }, `cannot ${what} a spill file (${code}); output beyond its tail is lost`)
  }

  withdrawAll(): void {
    for (const file of this.#oldestFirst) file.withdraw()
  }
}

const promised = {
  writev: promisify(writev),
  fstat: promisify(fstat),
  close: promisify(fsClose),
  unlink: promisify(unlink),
  statfs: promisify(statfs),
}

export const systemFiles: SpillFiles = {
  create: createPrivateFileLater,
  write: async (descriptor, buffers, position) => (await promised.writev(descriptor, buffers, position)).bytesWritten,
  links: async (descriptor) => (await promised.fstat(descriptor)).nlink,
  close: promised.close,
  unlink: promised.unlink,
  async freeBytes(directory) {
    const { bavail, bsize } = await promised.statfs(directory)
    return bavail * bsize
  },
  readSync(path, position, target) {
    const descriptor = openSync(path, constants.O_RDONLY)
    try {
      for (let done = 0; done < target.length; ) {
        const count = readSync(descriptor, target, done, target.length - done, position + done)
        if (count === 0) throw Object.assign(new Error(`${path} is shorter than what was written to it`), { code: 'ENOENT' })
        done += count
      }
    } finally {
      closeSync(descriptor)
    }
  },
}
