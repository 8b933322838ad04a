import { styleText } from 'node:util'
import type { GeneralFlags, Io } from './io.ts'
import { plainText } from './terminal-text.ts'

type Style = Parameters<typeof styleText>[0]

/** Where people read. What commands and plugins wrote is shown without control sequences. */
export class Screen {
  /** Whether standard output, and standard error, get colours. */
  readonly color: boolean
  readonly errorColor: boolean
  readonly quiet: boolean
  readonly #io: Io

  constructor(io: Io, flags: GeneralFlags) {
    this.#io = io
    this.quiet = flags.quiet === true
    const wanted = flags.color !== false && (io.env.NO_COLOR ?? '') === ''
    this.color = wanted && io.stdout.isTTY === true
    this.errorColor = wanted && io.stderr.isTTY === true
  }

  /** Results: standard output, each on lines of its own. */
  print(text: string): void {
    if (text !== '') this.write(text.endsWith('\n') ? text : `${text}\n`)
  }

  /** As it is: only for text this program made. */
  write(text: string): void {
    this.#io.stdout.write(text)
  }

  printUntrusted(text: string): void {
    this.print(plainText(text))
  }

  /** What goes wrong: standard error. */
  complain(text: string): void {
    this.#io.stderr.write(`${text}\n`)
  }

  /** Standard output cannot be written; that its reader has left is no fault. */
  outputLost({ code, message }: NodeJS.ErrnoException): void {
    if (code !== 'EPIPE') this.complain(`error: standard output cannot be written: ${message}`)
  }

  /** News that nobody asked for: standard error, unless quiet. As it is. */
  note(text: string): void {
    if (!this.quiet) this.complain(text)
  }

  paint(style: Style, text: string): string {
    return this.color ? styleText(style, text) : text
  }

  paintError(style: Style, text: string): string {
    return this.errorColor ? styleText(style, text) : text
  }
}
