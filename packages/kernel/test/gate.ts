/** A point in the code under test where a test decides when, and how, it goes on. */
export class Gate {
  /** Resolves when somebody waits here for the first time. */
  readonly reached: Promise<void>
  readonly #passed: Promise<void>
  #reach: () => void = () => undefined
  #open: () => void = () => undefined
  #fail: (error: unknown) => void = () => undefined

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#reach = resolve
    })
    this.#passed = new Promise((resolve, reject) => {
      this.#open = resolve
      this.#fail = reject
    })
    this.#passed.catch(() => undefined)
  }

  /** Called by the code under test: says that it has come this far, and waits. */
  pass(): Promise<void> {
    this.#reach()
    return this.#passed
  }

  open(): void {
    this.#open()
  }

  fail(error: unknown): void {
    this.#fail(error)
  }
}
