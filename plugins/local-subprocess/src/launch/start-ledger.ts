import { closeSync, readSync, writeSync } from 'node:fs'
import type { StartedProcess } from './launch-plan.ts'

/** A start each. The launcher tells of one within milliseconds, and does not make so many in that time. */
const SLOTS = 1_024

/** As long as three numbers can be, and padded to that: a shorter entry leaves nothing of a longer one. */
const SLOT_BYTES = 64

/**
 * A file that the launcher writes its starts to before it tells of them, and that the host reads when the launcher is gone: what it had
 * started and not told of would else have no pid. Neither side's descriptor has a name any more once they know each other.
 */
export class StartLedger {
  readonly #descriptor: number

  /** Owns `descriptor` from here on. */
  constructor(descriptor: number) {
    this.#descriptor = descriptor
    // Compiles what is to be fast the first time. No process has that number.
    this.write(0, { pid: 0 })
  }

  /** What cannot be written is found by its cookie, if it is ever looked for. */
  write(id: number, { pid, start }: StartedProcess): void {
    try {
      writeSync(this.#descriptor, `${id} ${pid} ${start ?? ''}`.padEnd(SLOT_BYTES), (id % SLOTS) * SLOT_BYTES)
    } catch {
      // A full disk keeps nobody from starting anything.
    }
  }

  read(id: number): StartedProcess | undefined {
    const slot = Buffer.alloc(SLOT_BYTES)
    readSync(this.#descriptor, slot, 0, SLOT_BYTES, (id % SLOTS) * SLOT_BYTES)
    const [, written, pid, start] = /^(\d+) ([1-9]\d*) (\d*) *$/.exec(slot.toString('latin1')) ?? []
    if (Number(written) !== id) return undefined
    return { pid: Number(pid), ...(start !== '' && { start: Number(start) }) }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}
