/** Time that is used up only while it runs. */
export class Budget {
  readonly #overrun: () => void
  readonly #now: () => number
  #leftMs: number
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(ms: number, now: () => number, overrun: () => void) {
    this.#leftMs = ms
    this.#now = now
    this.#overrun = overrun
  }

  run(): void {
    this.#since = this.#now()
    this.#timer ??= setTimeout(this.#overrun, Math.max(0, this.#leftMs))
  }

  pause(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs -= this.#now() - this.#since
  }
}
