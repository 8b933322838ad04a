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

  /** @returns the first line that matches. @throws ToolError TOOL_ARGUMENTS if that cannot be said in time */
  find(pattern: RegExp, lines: readonly string[]): string | undefined {
    this.#context ??= createContext(this.#sandbox)
    this.#sandbox.evaluate = () => lines.findIndex((line) => pattern.test(line))
    try {
      return lines[this.#script.runInContext(this.#context, { timeout: EVALUATION_MS }) as number]
    } catch (error) {
      if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new ToolError('TOOL_ARGUMENTS', text.untilTooSlow)
      // What is too large is found out when it is used for the first time.
      throw unusable(error)
    } finally {
      this.#sandbox.evaluate = () => -1
    }
  }
}

function unusable(error: unknown): ToolError {
  return new ToolError('TOOL_ARGUMENTS', text.invalidUntil(error instanceof Error ? error.message : String(error)), { cause: error })
}
