import type { Readable, Writable } from 'node:stream'
import type { OutputReader } from './output-reader.ts'

/** Exactly one of the two is non-null when the platform reported the exit: a code, or the signal that ended the process. */
export interface ExitFacts {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** The exit was not reported, and will not be: whatever launched the process was lost. Both others are null then. */
  readonly lost?: true
}

/** One started tree, or the start that failed. Valid for as long as the caller keeps it, also across a reload of the provider plugin. */
export interface SubprocessHandle {
  /** Undefined when nothing was started, and before `started` has settled where the provider does not start processes itself. */
  readonly pid: number | undefined
  /** True once the process runs, false when nothing was started: `done` says why. Never rejects. */
  readonly started: Promise<boolean>
  /** Present only for `pipe`; the caller owns the stream and its errors. */
  readonly stdin?: Writable
  readonly stdout?: Readable
  readonly stderr?: Readable
  /** Present only for collected streams. */
  readonly output: { readonly stdout?: OutputReader; readonly stderr?: OutputReader }
  /**
   * Facts of the leader, after one bounded drain: everything it wrote has been collected. Does not wait for survivors.
   * Rejects (SubprocessError) only when nothing was started; an unobserved rejection is never reported as unhandled.
   */
  readonly done: Promise<ExitFacts>
  /** Ends the whole tree: TERM, then KILL after graceMs. Idempotent; returns at once; does nothing once absence was observed. */
  terminate(): void
  /** True when the whole tree is gone (at once if nothing was started); false when `signal` aborts first. Never rejects. */
  waitForExit(signal?: AbortSignal): Promise<boolean>
  /** Live members of the tree other than the leader, counted now. 0 after absence was observed. */
  survivors(): Promise<number>
}
