import { Jobs } from '@tenon/jobs'
import { didYouMean, type Json } from '@tenon/kernel'
import type { Runtime } from '@tenon/runtime'
import { type Notice, openSession, type Session } from '@tenon/session'
import { type ToolResult, Tools, type ToolView } from '@tenon/tools'
import { commandStatus } from '../command-status.ts'
import { ExitCode } from '../exit-codes.ts'
import type { Screen } from '../screen.ts'
import { plainText } from '../terminal-text.ts'
import { contentText } from '../tool-output.ts'
import { UsageError } from '../usage-error.ts'
import { parseLine, parseToolArguments } from './console-line.ts'
import { jobVerbs } from './job-verbs.ts'
import { rowVerbs } from './row-verbs.ts'
import type { Verb } from './verbs.ts'

export interface ConsoleOptions {
  readonly runtime: Runtime
  readonly screen: Screen
  /** Absolute. */
  readonly cwd: string
  readonly sessionId: string
  /** Shows a line of news, such as that a job has ended. */
  readonly tell: (text: string) => void
}

/** What a line ends with: its status, and whether the console ends with it. */
export interface LineOutcome {
  /** Undefined for a line that does nothing, and for `quit`: the status of the line before stands. */
  readonly status: number | undefined
  readonly quit: boolean
}

const QUIT = new Set(['quit', 'exit'])

/** Understands and carries out lines, one at a time; a session of its own. Knows nothing of where they come from. */
export class Console {
  readonly #options: ConsoleOptions
  readonly #session: Session
  readonly #verbs: ReadonlyMap<string, Verb>
  #running: AbortController | undefined

  /** @throws KernelError SCOPE_CLOSED */
  constructor(options: ConsoleOptions) {
    this.#options = options
    // A notice tells a model to read on; a person is told that there is something to read.
    const deliver = ({ summary }: Notice): 'delivered' => {
      options.tell(summary)
      return 'delivered'
    }
    this.#session = openSession(options.runtime.kernel.scope, { id: options.sessionId, cwd: options.cwd, deliver })
    const own: readonly Verb[] = [
      { name: 'help', usage: '', help: 'this list', run: () => this.#help() },
      { name: 'tools', usage: '', help: 'the tools that can be called', run: () => this.#listTools() },
    ]
    this.#verbs = new Map([...own, ...jobVerbs, ...rowVerbs].map((verb) => [verb.name, verb]))
  }

  /** Tools that a line cannot call, since a command of the console has their name. */
  get hiddenTools(): readonly string[] {
    return this.#toolNames().filter((name) => this.#verbs.has(name) || QUIT.has(name))
  }

  /** Cancels the call that runs; false if there is none. */
  cancel(): boolean {
    if (this.#running === undefined) return false
    this.#running.abort(new Error('cancelled by the user'))
    return true
  }

  /** Sends the call that waits in the foreground to the background; false if there is none. */
  promote(): boolean {
    const jobs = this.#options.runtime.get(Jobs)
    const held = jobs?.list(this.#session).filter(({ attachment, status }) => attachment === 'foreground' && status === 'running') ?? []
    return held.map(({ id }) => jobs?.promote(id, 'host')).includes('requested')
  }

  /** @throws UsageError, CodedError */
  async execute(line: string): Promise<LineOutcome> {
    const parsed = parseLine(line)
    if (parsed.kind === 'nothing') return { status: undefined, quit: false }
    if (parsed.kind === 'shell') return { status: await this.#shell(parsed.command), quit: false }
    const { word, rest } = parsed
    if (QUIT.has(word)) return { status: undefined, quit: true }
    const verb = this.#verbs.get(word)
    if (verb === undefined) return { status: await this.#tool(word, rest), quit: false }
    const status = await this.#cancellable((signal) => verb.run({ ...this.#options, signal }, rest))
    return { status, quit: false }
  }

  /** For the line editor: what may stand at the end of `line`, and the part it replaces. */
  complete(line: string): readonly [readonly string[], string] {
    const [, head = '', word = ''] = /^(\s*(?:\S+\s+)?)(\S*)$/.exec(line) ?? []
    if (head.trim() === '') {
      const names = [...this.#verbs.keys(), 'quit', ...this.#toolNames()]
      return [names.filter((name) => name.startsWith(word)).map((name) => `${name} `), word]
    }
    const verb = this.#verbs.get(head.trim())
    return [this.#candidates(verb?.completes).filter((candidate) => candidate.startsWith(word)), word]
  }

  #candidates(kind: Verb['completes']): readonly string[] {
    const { runtime } = this.#options
    if (kind === undefined) return []
    if (kind === 'job') return (runtime.get(Jobs)?.list('host') ?? []).map(({ id }) => id)
    return runtime.composition.rows.map(({ id }) => (kind === 'row.path' ? `${id}.` : id))
  }

  async #shell(command: string): Promise<number> {
    const tools = this.#tools()
    const tool = ['bash', 'pwsh'].map((name) => tools?.get(name)).find((view) => view !== undefined)
    if (tool === undefined) throw new UsageError('there is no shell tool here: the composition has neither bash nor pwsh')
    const result = await this.#call(tool.name, withDescription({ command }, tool))
    return result.isError ? ExitCode.failed : commandStatus(result.value)
  }

  async #tool(name: string, rest: string): Promise<number> {
    const tools = this.#tools()
    const tool = tools?.get(name)
    if (tool === undefined) {
      const meant = didYouMean(name, [...this.#verbs.keys(), 'quit', ...this.#toolNames()])
      throw new UsageError(
        `there is no command and no tool "${clipped(name)}"; ${meant === undefined ? '`help` lists them' : `did you mean "${meant}"?`}`,
      )
    }
    const result = await this.#call(name, withDescription(parseToolArguments(name, rest), tool))
    return result.isError ? ExitCode.failed : ExitCode.ok
  }

  async #call(name: string, toolArguments: unknown): Promise<ToolResult> {
    const tools = this.#tools()
    if (tools === undefined) throw new UsageError('the composition has no tools')
    const result = await this.#cancellable((signal) => tools.execute({ name, arguments: toolArguments, session: this.#session, signal }))
    const { screen } = this.#options
    if (result.isError) screen.complain(plainText(contentText(result.content)).trimEnd())
    else screen.printUntrusted(contentText(result.content))
    return result
  }

  async #cancellable<T>(work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const running = new AbortController()
    this.#running = running
    try {
      return await work(running.signal)
    } finally {
      this.#running = undefined
    }
  }

  #tools(): Tools | undefined {
    return this.#options.runtime.get(Tools)
  }

  #toolNames(): readonly string[] {
    return (
      this.#tools()
        ?.view()
        .tools.map(({ name }) => name) ?? []
    )
  }

  #help(): number {
    const { screen } = this.#options
    const lines = [
      ['TOOL {json}', 'call a tool; `description` may be left out'],
      ['! COMMAND', 'run a command with the shell tool'],
      ...[...this.#verbs.values()].map(({ name, usage, help }) => [`${name} ${usage}`.trim(), help]),
      ['quit', 'close everything and end'],
    ]
    const width = Math.max(...lines.map(([usage = '']) => usage.length))
    for (const [usage = '', help = ''] of lines) screen.print(`${usage.padEnd(width)}  ${help}`)
    return ExitCode.ok
  }

  #listTools(): number {
    const { screen } = this.#options
    const tools = this.#tools()?.view().tools ?? []
    if (tools.length === 0) screen.print('no tools')
    for (const { name, description, inputSchema } of tools) {
      const required = new Set(Array.isArray(inputSchema.required) ? inputSchema.required : [])
      const fields = Object.keys((inputSchema.properties as object | undefined) ?? {}).map((field) => (required.has(field) ? field : `${field}?`))
      screen.print(`${screen.paint('bold', plainText(name))} ${plainText(`{${fields.join(', ')}}\n  ${description}`)}`)
    }
    return ExitCode.ok
  }
}

/** Whoever pastes a file is told of its beginning. */
function clipped(word: string): string {
  return word.length <= 60 ? word : `${word.slice(0, 59)}…`
}

/** Of the description that stands in for one, in characters. */
const DESCRIPTION_LIMIT = 120

/** A person sees the command itself: where a tool wants it described, the beginning of its first line does. */
function withDescription(value: unknown, tool: ToolView): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const { command, description } = value as Readonly<Record<string, Json>>
  const properties = tool.inputSchema.properties as Readonly<Record<string, Json>> | undefined
  if (description !== undefined || properties?.description === undefined || properties.command === undefined) return value
  return { ...value, description: (typeof command === 'string' ? firstLine(command) : '') || tool.name }
}

function firstLine(command: string): string {
  const [line = ''] = command
    .trim()
    .slice(0, DESCRIPTION_LIMIT * 2)
    .split(/[\r\n]/)
  const characters = [...plainText(line).trim()]
  return characters.length > DESCRIPTION_LIMIT ? `${characters.slice(0, DESCRIPTION_LIMIT - 1).join('')}…` : characters.join('')
}
