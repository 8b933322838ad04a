import type { OutputReader } from '@tenon/subprocess'
import type { ShellResult } from './result.ts'
import type { SandboxFacts } from './sandbox.ts'

/**
 * One running, or settled, command. There is one instance per execution; whoever has more to say adds facts to it and never wraps
 * it. It survives a reload of the executor, with its deadline, and ends with the subprocess provider's row at the latest.
 */
export interface ShellExecution {
  /** `killed`: ended by us, died by a signal, never ran, or its exit status was lost. Changes once, at the end: a command that is being stopped is still `running`. */
  readonly status: 'running' | 'completed' | 'killed'
  readonly exitCode: number | null
  /** Only for death by signal. */
  readonly signal: NodeJS.Signals | null
  /** How it ended is not known: whatever launched it was lost. */
  readonly lost?: true
  readonly sandbox?: SandboxFacts
  /**
   * Settles once, with the shell's own exit, after status and sandbox facts are final. Does not wait for children it left behind.
   * Never rejects.
   */
  readonly done: Promise<void>
  /** Non-consuming readers by byte offset, any number of users. They also show what survivors write after the end. */
  readonly observed: { readonly stdout: OutputReader; readonly stderr: OutputReader }
  /** Consuming: what no earlier call returned. One consumer at a time; valid after the end; does not disturb `observed` and `result()`. Never throws. */
  readOutput(): ShellRead
  /** Ends the tree. True if this call or an earlier stop is ending a running process; false, without any effect, once it has ended. */
  kill(): boolean
  /** Live processes of the tree besides the shell, counted now. */
  survivors(): Promise<number>
  /**
   * Lazy and memoised: the same promise for every caller. Rejects only for failures of the infrastructure, with SHELL_SPAWN or
   * SANDBOX_UNAVAILABLE; a rejection nobody looks at is never reported as unhandled.
   */
  result(): Promise<ShellResult>
}

/** What is new in both streams, as one text: stdout, then under a line `[stderr]` the stderr. See `renderRead`. */
export interface ShellRead {
  readonly delta: string
  /** More was unread than a stream's budget, so the text before the delta's is not in it. */
  readonly lossy: boolean
  /** Of a stream that lost text here: the file that holds all of it. */
  readonly stdoutSpillPath?: string
  readonly stderrSpillPath?: string
}
