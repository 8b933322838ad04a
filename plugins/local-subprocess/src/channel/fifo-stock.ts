import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { isOutOfDescriptors } from '../spare-descriptor.ts'
import { discard } from './discard.ts'
import type { PrivateDirectory } from './private-directory.ts'

/** FIFOs made by one run of `mkfifo`. */
const BATCH = 64

/** Write permission for everybody: a command that changes its user may still reopen `/dev/stdout`. Nobody else can read. */
const MODE = '0622'

/** After a failure FIFOs are not tried for so long: each try costs a run of a program, and most causes stay. */
const RETRY_MS = 10_000

/** Runs a program to its end. */
export type RunProgram = (file: string, args: readonly string[]) => Promise<void>
export type RunProgramSync = (file: string, args: readonly string[]) => void

/** A FIFO with its read end open. `path` is still there, for whoever opens the write end. */
export interface Fifo {
  readonly path: string
  readonly readEnd: number
}

/**
 * FIFOs in stock, since Node has no call that makes one: a run of a program for each would double the cost of a command. Each serves
 * one stream and is never used again: a survivor that had opened `/dev/stdout` for reading would take the next command's output.
 */
export class FifoStock {
  readonly #directory: () => PrivateDirectory
  readonly #run: RunProgram
  readonly #runSync: RunProgramSync
  readonly #clock: Clock
  readonly #fault: (error: unknown) => void
  readonly #isUsable: boolean
  #names: string[] = []
  #counter = 0
  #refill: Promise<void> | undefined
  #notBefore = Number.NEGATIVE_INFINITY

  /** @param isUsable whether what is opened here may be handed to a socket: without, none is made */
  constructor(
    directory: () => PrivateDirectory,
    run: RunProgram,
    runSync: RunProgramSync,
    clock: Clock,
    fault: (error: unknown) => void,
    isUsable: boolean,
  ) {
    this.#directory = directory
    this.#run = run
    this.#runSync = runSync
    this.#clock = clock
    this.#fault = fault
    this.#isUsable = isUsable
  }

  /** Makes FIFOs ahead of need, if there are few. */
  prepare(): void {
    if (this.#isUsable && this.#names.length < BATCH / 2) this.#refill ??= this.#makeLater()
  }

  get size(): number {
    return this.#names.length
  }

  /** Undefined where FIFOs cannot be made, or used. @throws EMFILE and ENFILE: no descriptor is left, for anything. */
  take(): Fifo | undefined {
    if (!this.#isUsable) return undefined
    // The second try is for a directory that a cleaner took, with everything in stock.
    for (let attempt = 0; attempt < 2 && this.#clock.now() >= this.#notBefore; attempt++) {
      const path = this.#pop()
      if (path === undefined) return undefined
      try {
        return { path, readEnd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
      } catch (error) {
        if (isOutOfDescriptors(error)) {
          this.#names.push(path)
          throw error
        }
        this.#names = []
        this.#directory().renew()
        if (attempt > 0) this.#fail(error)
      }
    }
    return undefined
  }

  /** Removes the name of a FIFO both ends of which are open, or that is not going to be used. */
  discard(fifo: Fifo): void {
    discard(fifo.path)
  }

  /** Closes a FIFO that nobody reads. */
  cancel(fifo: Fifo): void {
    closeSync(fifo.readEnd)
    this.discard(fifo)
  }

  /** Forgets the stock, which lies in a directory that is left behind. */
  clear(): void {
    this.#names = []
    this.#notBefore = Number.NEGATIVE_INFINITY
  }

  /** Resolves when no run of `mkfifo` is under way. */
  async idle(): Promise<void> {
    await this.#refill
  }

  /** No FIFO is made any more. */
  async close(): Promise<void> {
    this.#notBefore = Number.POSITIVE_INFINITY
    await this.idle()
  }

  #pop(): string | undefined {
    const name = this.#names.pop() ?? this.#makeNow()
    this.prepare()
    return name
  }

  #makeNow(): string | undefined {
    try {
      const names = this.#freshNames()
      this.#runSync('mkfifo', ['-m', MODE, ...names])
      this.#names.push(...names)
      return this.#names.pop()
    } catch (error) {
      if (isOutOfDescriptors(error)) throw error
      if (this.#directory().giveUp()) return this.#makeNow()
      this.#fail(error)
      return undefined
    }
  }

  #fail(error: unknown): void {
    this.#notBefore = this.#clock.now() + RETRY_MS
    this.#fault(error)
  }

  /** In a turn of its own: starting a program blocks the loop, and a spawn is under way. */
  async #makeLater(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    try {
      const names = this.#freshNames()
      await this.#run('mkfifo', ['-m', MODE, ...names])
      this.#names.unshift(...names)
    } catch {
      // Whoever empties the stock tries again, at once, and says what is wrong.
    } finally {
      this.#refill = undefined
    }
  }

  #freshNames(): string[] {
    const directory = this.#directory().path()
    return Array.from({ length: BATCH }, () => join(directory, `${this.#counter++}.fifo`))
  }
}
