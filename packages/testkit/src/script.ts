/** Which calls an answer is for: this very text, a pattern, or whatever the function says. */
export type Match<T> = string | RegExp | ((call: T) => boolean)

interface Line<T, A> {
  readonly match: Match<T>
  readonly answer: A
}

/** Answers by what was asked; the newest line that matches counts. */
export class Script<T, A> {
  readonly #lines: Line<T, A>[] = []
  readonly #textOf: (call: T) => string

  constructor(textOf: (call: T) => string) {
    this.#textOf = textOf
  }

  add(match: Match<T>, answer: A): void {
    this.#lines.unshift({ match, answer })
  }

  /** @throws Error for what the test did not foresee */
  answer(call: T): A {
    const text = this.#textOf(call)
    const found = this.#lines.find(({ match }) => {
      if (typeof match === 'string') return match === text
      return match instanceof RegExp ? new RegExp(match.source, match.flags.replace(/[gy]/g, '')).test(text) : match(call)
    })
    if (found === undefined) throw new Error(`nothing is scripted for ${JSON.stringify(text)}; add it with script(match, answer)`)
    return found.answer
  }
}

/** Hands out, one after the other, what has happened and what will. */
export class Happenings<T> {
  readonly all: T[] = []
  #taken = 0
  #waiters: ((happening: T) => void)[] = []

  add(happening: T): void {
    this.all.push(happening)
    const waiter = this.#waiters.shift()
    if (waiter === undefined) return
    this.#taken++
    waiter(happening)
  }

  /** The next one that this has not given yet; waits for it if need be. */
  next(): Promise<T> {
    const happening = this.all[this.#taken]
    if (happening === undefined) return new Promise((resolve) => this.#waiters.push(resolve))
    this.#taken++
    return Promise.resolve(happening)
  }
}
