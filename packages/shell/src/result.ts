import { ShellError } from './errors.ts'
import type { SandboxFacts } from './sandbox.ts'

/** The facts of one settled execution, side by side: none of them overwrites another. */
export interface ShellResult {
  readonly exitCode: number | null
  /** Only for death by signal. */
  readonly signal: NodeJS.Signals | null
  /** How the command ended is not known, and will not be: whatever launched it was lost. Exit code and signal are null then. */
  readonly lost?: true
  /** The deadline was the first cause of the end. Independent of the exit facts: a trapped TERM may end with exit code 0. */
  readonly timedOut: boolean
  /** The caller's abort was the first cause of the end. Never together with `timedOut`. */
  readonly aborted: boolean
  /** The deadline that was in force, in milliseconds. */
  readonly timeoutMs: number
  /** Wall time from `execute()` to settlement, in milliseconds. */
  readonly durationMs: number
  readonly stdout: CollectedText
  readonly stderr: CollectedText
  readonly sandbox?: SandboxFacts
}

/** One stream, up to the offset it had at settlement. */
export interface CollectedText {
  /** UTF-8; the tail when truncated. */
  readonly text: string
  /** Size of the whole stream in bytes; a lower bound once output was discarded. */
  readonly bytes: number
  readonly truncated: boolean
  /** File that holds the complete stream. */
  readonly spillPath?: string
  /** The capture could not be read, which is not "no output". */
  readonly error?: string
}

/**
 * The constructor of results: a frozen copy.
 * @throws ShellError SHELL_BAD_REQUEST if both flags are set, since only one cause can have been the first.
 */
export function shellResult(facts: ShellResult): ShellResult {
  if (facts.timedOut && facts.aborted) {
    throw new ShellError('SHELL_BAD_REQUEST', 'shellResult: timedOut and aborted are both true; set the one that happened first', {
      details: { field: 'timedOut' },
    })
  }
  const { stdout, stderr, sandbox, ...rest } = facts
  return Object.freeze({
    ...rest,
    stdout: Object.freeze({ ...stdout }),
    stderr: Object.freeze({ ...stderr }),
    ...(sandbox !== undefined && { sandbox: Object.freeze({ ...sandbox }) }),
  })
}
