/** A point at which a test decides when, and how, the code under test goes on. */
export class Gate<T = void> {
  /** Resolves when somebody waits here for the first time. */
  readonly reached: Promise<void>
  readonly #passed: Promise<T>
  #reach: () => void = () => undefined
  #open: (value: T) => void = () => undefined
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

  pass(): Promise<T> {
    this.#reach()
    return this.#passed
  }

  open(value: T): void {
    this.#open(value)
  }

  fail(error: unknown): void {
    this.#fail(error)
  }
}
