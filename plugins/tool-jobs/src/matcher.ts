import { setImmediate as nextTurn } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'
import { ToolError } from '@tenon/tools'
import { text } from './text.ts'

const PATTERN_CHARACTERS = 200

/**
 * Longest evaluation, in milliseconds: the host is held up meanwhile, and for 50 at most. The rest is what an interruption takes: on an
 * idle machine 0.1 to 5 ms were measured for patterns that backtrack without end. A worker would hold nobody up, but takes 30 to 200 ms
 * to start.
 */
const EVALUATION_MS = 45

/** The clock of an interruption goes on while other programs have the processor: on a full machine a pattern gets another try. */
const TRIES = 5

/** @throws ToolError TOOL_ARGUMENTS */
export function compile(until: string): RegExp {
  const problem = until === '' ? text.emptyUntil : [...until].length > PATTERN_CHARACTERS ? text.longUntil(PATTERN_CHARACTERS) : undefined
  if (problem !== undefined) throw new ToolError('TOOL_ARGUMENTS', text.invalidUntil(problem))
  try {
    return new RegExp(until)
  } catch (error) {
    throw unusable(error)
  }
}

/** Evaluates patterns of a model's within a bound: backtracking can take longer than the universe. */
export class Matcher {
  readonly #sandbox = { evaluate: (): number => -1 }
  #context: object | undefined
  readonly #script = new Script('evaluate()')

  /** @returns the first line that matches. Rejects with ToolError TOOL_ARGUMENTS if that cannot be said in time */
  async find(pattern: RegExp, lines: readonly string[]): Promise<string | undefined> {
    for (let left = TRIES; ; left--) {
      const before = process.cpuUsage()
      try {
        return lines[this.#evaluate(() => lines.findIndex((line) => pattern.test(line)))]
      } catch (error) {
        // What is too large is found out when it is used for the first time.
        if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw unusable(error)
        const { user, system } = process.cpuUsage(before)
        const wasStarved = (user + system) / 1_000 < EVALUATION_MS / 2
        if (left === 1 || !wasStarved) throw new ToolError('TOOL_ARGUMENTS', text.untilTooSlow)
      }
      await nextTurn()
    }
  }

  #evaluate(evaluate: () => number): number {
    this.#context ??= createContext(this.#sandbox)
    this.#sandbox.evaluate = evaluate
    try {
      return this.#script.runInContext(this.#context, { timeout: EVALUATION_MS }) as number
    } finally {
      // The lines are not held.
      this.#sandbox.evaluate = () => -1
    }
  }
}

function unusable(error: unknown): ToolError {
  return new ToolError('TOOL_ARGUMENTS', text.invalidUntil(error instanceof Error ? error.message : String(error)), { cause: error })
}
