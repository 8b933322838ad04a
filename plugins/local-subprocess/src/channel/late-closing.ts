import { closeSync } from 'node:fs'

/** So many wait at most: a loop that is kept in one phase, by starts that block, does not come to the end of its turn for a long time. */
const MOST = 8

/** Closes descriptors at the end of the turn: whoever waits for the command to which they belonged is answered first. */
export class LateClosing {
  #descriptors: number[] = []

  /** Nobody reads it any more. */
  close(descriptor: number): void {
    if (this.#descriptors.push(descriptor) === 1) setImmediate(() => this.flush())
    if (this.#descriptors.length >= MOST) this.flush()
  }

  /** Whoever is about to need some, first. */
  flush(): void {
    for (const descriptor of this.#descriptors.splice(0)) closeSync(descriptor)
  }
}
