import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/**
 * A descriptor kept back for when the process has no other left. Who may be signalled is known by opening files: without one, nothing that
 * runs could be ended any more.
 */
export class SpareDescriptor {
  #descriptor: number | undefined
  #wanted = false

  /** From now on until `release`; if none can be had now, as soon as one can. */
  hold(): void {
    this.#wanted = true
    this.#take()
  }

  release(): void {
    this.#wanted = false
    this.#give()
  }

  /**
   * Takes a step that opens one file at a time and closes it again; if no descriptor was left, once more with the spare.
   * @throws what the step throws; EMFILE or ENFILE where the spare is out too
   */
  lend<T>(step: () => T): T {
    try {
      return step()
    } catch (error) {
      if (!isOutOfDescriptors(error) || !this.#give()) throw error
      return step()
    } finally {
      this.#take()
    }
  }

  #give(): boolean {
    if (this.#descriptor === undefined) return false
    closeSync(this.#descriptor)
    this.#descriptor = undefined
    return true
  }

  /** Another thread may have been quicker: then the next step's end is another chance. */
  #take(): void {
    if (!this.#wanted || this.#descriptor !== undefined) return
    try {
      this.#descriptor = openSync(devNull, 'r')
    } catch {
      // None is left.
    }
  }
}

/** Of the process, or of the whole system. */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return code === 'EMFILE' || code === 'ENFILE'
}
