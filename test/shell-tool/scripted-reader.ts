import type { ShellExecution } from '@tenon/shell'

/** A stream that a test writes. Keeps everything; asks for nothing. */
export class ScriptedReader {
  finished = false
  readonly spillPath: string | undefined
  #bytes = Buffer.alloc(0)
  readonly #waiting = new Set<() => void>()

  constructor(spillPath?: string) {
    this.spillPath = spillPath
  }

  write(text: string): void {
    this.#bytes = Buffer.concat([this.#bytes, Buffer.from(text)])
    this.#wake()
  }

  finish(): void {
    this.finished = true
    this.#wake()
  }

  /** How many ask for changes right now. */
  get asked(): number {
    return this.#waiting.size
  }

  get text(): string {
    return this.#bytes.toString()
  }

  size = (): number => this.#bytes.length
  earliest = (): number => 0
  release = (): void => undefined

  readFrom(offset: number, maxBytes = Number.POSITIVE_INFINITY) {
    const end = Math.min(this.#bytes.length, offset + maxBytes)
    return { text: this.#bytes.toString('utf8', offset, end), startOffset: offset, nextOffset: end, lossy: false }
  }

  async changed(after: number, signal: AbortSignal): Promise<boolean> {
    while (this.size() <= after) {
      if (this.finished || signal.aborted) return false
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        this.#waiting.add(wake)
        signal.addEventListener('abort', wake)
      })
    }
    return true
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}

type Reader = ShellExecution['observed']['stdout']
/** Structural, as for any provider. */
export const asReader = (reader: ScriptedReader): Reader => reader
