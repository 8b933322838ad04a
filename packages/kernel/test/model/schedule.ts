interface Waiting {
  readonly label: string
  readonly open: () => void
}

/** The places where plugin code waits. Nothing here takes time: whoever drives the scenario says who goes on next. */
export class Schedule {
  readonly #order: readonly number[]
  readonly #log: string[]
  #waiting: Waiting[] = []
  #next = 0

  constructor(order: readonly number[], log: string[]) {
    this.#order = order
    this.#log = log
  }

  wait(label: string): Promise<void> {
    return new Promise((open) => {
      this.#waiting.push({ label, open })
    })
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0
  }

  get labels(): readonly string[] {
    return this.#waiting.map(({ label }) => label)
  }

  open(index: number): void {
    const [waiting] = this.#waiting.splice(index % Math.max(1, this.#waiting.length), 1)
    if (waiting === undefined) return
    this.#log.push(`  > ${waiting.label} goes on`)
    waiting.open()
  }

  openNext(): void {
    this.open(this.#order[this.#next++] ?? 0)
  }
}

/** Everything that can go on without the schedule has done so. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
