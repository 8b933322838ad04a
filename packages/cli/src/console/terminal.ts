import { createInterface, type Interface } from 'node:readline/promises'
import type { CommandContext } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { tellFailure } from '../failure.ts'
import type { Console, LineOutcome } from './console.ts'

const PROMPT = 'tenon> '
/** As after SIGINT. */
const INTERRUPTED = 130

/** The console on a terminal: prompt, history, completion. Lines typed while a call runs wait for its end; an interrupt drops them. */
export class Terminal {
  readonly #context: CommandContext
  #editor: Interface | undefined
  #console: Console | undefined
  /** At the prompt, as against in a call. */
  #idle = false
  /** An interrupt came, and nothing has been typed since. */
  #interrupted = false

  constructor(context: CommandContext) {
    this.#context = context
  }

  /** Shows a line that belongs to no command, without spoiling what is being typed. */
  interject(line: string): void {
    const { io } = this.#context
    if (!this.#idle || this.#editor === undefined) {
      io.stderr.write(`${line}\n`)
      return
    }
    io.stderr.write(`\r\u001b[K${line}\n`)
    this.#editor.prompt(true)
  }

  /** Until `quit`, the end of input, or a second interrupt. */
  async run(console: Console): Promise<number> {
    this.#console = console
    const { io, screen } = this.#context
    const editor = createInterface({
      input: io.stdin,
      output: io.stdout,
      terminal: true,
      prompt: PROMPT,
      historySize: 1_000,
      removeHistoryDuplicates: true,
      completer: (line: string) => [...console.complete(line)] as [string[], string],
    })
    this.#editor = editor
    const onKey = (_: string | undefined, key: { readonly ctrl?: boolean; readonly name?: string } | undefined): void => {
      if (key?.ctrl !== true || key.name !== 'c') this.#interrupted = false
      if (key?.ctrl === true && key.name === 'b' && !this.#idle && console.promote()) io.stdout.write('^B\n')
    }
    io.stdin.on('keypress', onKey)
    screen.note('`help` lists the commands; Ctrl-C cancels a call, twice quits; Ctrl-B sends it to the background')
    try {
      return await this.#loop(editor, console)
    } finally {
      this.#editor = undefined
      io.stdin.off('keypress', onKey)
      editor.close()
    }
  }

  #loop(editor: Interface, console: Console): Promise<number> {
    return new Promise((resolve) => {
      const lines: string[] = []
      let status: number = ExitCode.ok
      let ended = false
      const next = async (): Promise<void> => {
        this.#idle = false
        for (let line = lines.shift(); line !== undefined && !ended; line = lines.shift()) {
          const outcome = await this.#execute(console, line)
          status = outcome.status ?? status
          ended ||= outcome.quit
        }
        if (ended) return resolve(status)
        this.#idle = true
        // True: what was typed meanwhile stays, and the cursor behind it.
        editor.prompt(true)
      }
      editor.on('line', (line) => {
        lines.push(line)
        if (this.#idle) void next()
      })
      editor.on('SIGINT', () => {
        // As a terminal does for a shell: they were typed for what is given up now.
        lines.length = 0
        if (this.#interrupt(editor)) {
          ended = true
          resolve(this.#idle ? status : INTERRUPTED)
        }
      })
      editor.on('close', () => {
        ended = true
        console.cancel()
        resolve(status)
      })
      void next()
    })
  }

  async #execute(console: Console, line: string): Promise<LineOutcome> {
    const { io, screen, flags } = this.#context
    try {
      return await console.execute(line)
    } catch (error) {
      tellFailure(error, screen, { debug: flags.debug === true, cwd: io.cwd })
      return { status: ExitCode.failed, quit: false }
    }
  }

  /** True for the second in a row: quit. */
  #interrupt(editor: Interface): boolean {
    if (this.#interrupted) return true
    this.#interrupted = true
    const cancelled = this.#console?.cancel() === true
    this.#context.io.stdout.write(cancelled ? '^C\n' : '\n(Ctrl-C again to quit)\n')
    if (!cancelled) editor.write(null, { ctrl: true, name: 'u' })
    if (!cancelled && this.#idle) editor.prompt()
    return false
  }
}
