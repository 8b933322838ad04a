import { setImmediate as turn } from 'node:timers/promises'
import type { ToolResult } from '@tenon/tools'
import { parse } from 'yaml'
import { act, fact } from './acts.ts'
import { shownChanges, shownEvents, shownFacts, shownLog, shownNotices, shownResult, shownSchema } from './shown.ts'
import { renderStory, type Step, type Story } from './transcript.ts'
import { withoutVolatile } from './volatile.ts'
import { openWorld, type Rows, type World } from './world.ts'

/** A step that hangs is named; far longer than any takes, on whatever machine. */
const LONGEST_STEP_MS = 60_000
/** Bounds that apply where a call gives none: of commands, and of `job_output`. */
const DEFAULT_BOUNDS = [120_000, 30_000]

/** Plays a story in a composition of its own, and tells it as it went. */
export async function play(story: Story, shared: Rows = {}): Promise<string> {
  await using world = await openWorld({ ...shared, ...rowsOf(story) })
  const player = new Player(world)
  const pieces: (string | Step)[] = []
  for (const piece of story.pieces) pieces.push(typeof piece === 'string' ? piece : { ...piece, text: await played(player, piece) })
  player.end()
  return renderStory({ ...story, pieces })
}

/** The composition that a story, or a preface, asks for. */
export function rowsOf({ pieces }: Story): Rows {
  const fences = pieces.filter((piece): piece is Step => typeof piece !== 'string' && piece.kind === 'rows')
  return Object.assign({}, ...fences.map(({ text }) => parse(text) as Rows)) as Rows
}

async function played(player: Player, step: Step): Promise<string> {
  const deadline = new AbortController()
  const tooLong = new Promise<never>((_, reject) => {
    deadline.signal.addEventListener('abort', () => reject(new Error('it took too long')))
  })
  const timer = setTimeout(() => deadline.abort(), LONGEST_STEP_MS)
  try {
    return await Promise.race([player.play(step, deadline.signal), tooLong])
  } catch (error) {
    throw new Error(`line ${step.line}, ${step.kind}: ${(error as Error).message}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

interface Call {
  readonly controller: AbortController
  readonly result: Promise<ToolResult>
  isRead: boolean
}

class Player {
  readonly #world: World
  readonly #calls = new Map<string, Call>()
  readonly #bounds = new Set(DEFAULT_BOUNDS)
  #lastResult: ToolResult | undefined

  constructor(world: World) {
    this.#world = world
  }

  /** The text that the step has when it went this way: of what is done its own, of what is expected what happened. */
  async play(step: Step, signal: AbortSignal): Promise<string> {
    const { kind, words, text } = step
    switch (kind) {
      case 'rows':
        return text
      case 'call':
        await this.#call(step)
        return text
      case 'human':
        for (const line of text.split('\n')) await this.#act(line)
        return text
      case 'until':
        for (const line of text.split('\n')) await fact(this.#world, line, signal)
        return text
      default:
        return withoutVolatile(await this.#seen(kind, words), { directory: this.#world.directory, bounds: this.#bounds })
    }
  }

  /** A story in which nobody looked at a result shows nothing. */
  end(): void {
    const unread = [...this.#calls].filter(([, { isRead }]) => !isRead).map(([label]) => label)
    if (unread.length > 0) throw new Error(`nobody looked at the result of the call ${unread.join(', ')}`)
  }

  async #call({ words, text }: Step): Promise<void> {
    const [label = '', session = 'one'] = [words.find((word) => !word.startsWith('@')), words.find((word) => word.startsWith('@'))?.slice(1)]
    if (this.#calls.get(label)?.isRead === false) throw new Error(`the call ${label} before it has not been looked at`)
    const [, name = '', json = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
    const args: unknown = JSON.parse(json === '' ? '{}' : json)
    const { timeoutMs, timeout_ms } = args as { readonly timeoutMs?: number; readonly timeout_ms?: number }
    for (const bound of [timeoutMs, timeout_ms]) if (bound !== undefined) this.#bounds.add(bound)
    const controller = new AbortController()
    const { tools } = this.#world
    const owner = this.#world.session(session)
    const result = tools.execute({ name, arguments: args, session: owner, signal: controller.signal })
    this.#calls.set(label, { controller, result, isRead: false })
    // It has begun by then, or waits for rows that are not there.
    for (let turns = 0; turns < 3; turns++) await turn()
  }

  async #act(line: string): Promise<void> {
    const [, label] = /^cancel\s+(\S+)$/.exec(line.trim()) ?? []
    if (label === undefined) await act(this.#world, line)
    else this.#callOf(label).controller.abort()
  }

  async #seen(kind: string, words: readonly string[]): Promise<string> {
    const world = this.#world
    const [word = ''] = words
    switch (kind) {
      case 'result': {
        const call = this.#callOf(word)
        this.#lastResult = await call.result
        call.isRead = true
        return shownResult(this.#lastResult)
      }
      case 'facts':
        if (this.#lastResult === undefined) throw new Error('there is no result yet')
        return shownFacts(this.#lastResult)
      case 'schema':
        return shownSchema(world.tools.get(word))
      case 'tools':
        return world.tools
          .view()
          .tools.map(({ name }) => name)
          .join('\n')
      case 'prompt':
        return (await world.prompt.assemble(world.session('one'))).text
      case 'events':
        return shownEvents(world)
      case 'changes':
        return shownChanges(world)
      case 'notices':
        return shownNotices(world, word === '' ? 'one' : word.slice(1))
      case 'log':
        return shownLog(world)
      default:
        throw new Error('there is no such step')
    }
  }

  #callOf(label: string): Call {
    const call = this.#calls.get(label)
    if (call === undefined) throw new Error(`there is no call ${label}`)
    return call
  }
}
