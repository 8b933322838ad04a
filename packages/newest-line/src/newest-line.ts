/** Between two reports: people do not read faster. */
export const INTERVAL_MS = 250
/** As much of the end of an output is enough for its newest line. */
export const LOOK_BACK_BYTES = 1_024

const MAX_CHARACTERS = 200

/**
 * Tells the newest line of output as it comes, at most four times a second, until it is ended. Whoever watches the output says when it
 * has grown; it is read when a line is due, so that no line is told that is not the newest. What a read throws, or the report, ends the
 * reports and nothing else.
 */
export class NewestLine {
  readonly #report: (line: string) => void
  readonly #ending = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #last = ''
  #read: (() => string) | undefined

  constructor(report: (line: string) => void) {
    this.#report = report
  }

  /** Aborted at the end: who watches the output waits with it. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** @param read gives the end of the output that has grown, `LOOK_BACK_BYTES` at most */
  grown(read: () => string): void {
    this.#read = read
    // While the timer runs it will find the newest line by itself.
    if (this.#timer === undefined) this.#tell()
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#ending.abort()
  }

  #tell(): void {
    this.#timer = undefined
    if (this.signal.aborted) return
    try {
      const line = newestLine(this.#read?.() ?? '')
      if (line === '' || line === this.#last) return
      this.#last = line
      this.#timer = setTimeout(() => this.#tell(), INTERVAL_MS)
      this.#report(line)
    } catch {
      this.end()
    }
  }
}

/** The last line that is not blank, finished or not. */
function newestLine(text: string): string {
  const line =
    text
      .trimEnd()
      .split(/\r?\n|\r/)
      .at(-1) ?? ''
  const characters = [...line.trim()]
  return characters.length <= MAX_CHARACTERS ? characters.join('') : `${characters.slice(0, MAX_CHARACTERS - 1).join('')}…`
}
