/** Numbers that follow from a seed alone (mulberry32). */
export class Random {
  #state: number

  /** Each index of a seed has a sequence of its own, so that one command of a run can be played again without the others. */
  constructor(seed: number, index: number) {
    this.#state = (seed ^ Math.imul(index + 1, 0x9e3779b1)) | 0
    this.next()
  }

  /** From 0 up to, but without, 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** Both bounds included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  /** Small ones as often as large ones: a tenth of the range of sizes each. */
  size(least: number, most: number): number {
    return Math.round(least * (most / least) ** this.next())
  }

  chance(part: number): boolean {
    return this.next() < part
  }

  pick<T>(values: readonly T[]): T {
    const value = values[Math.floor(this.next() * values.length)]
    if (value === undefined) throw new RangeError('nothing to pick from')
    return value
  }
}
