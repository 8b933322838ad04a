import type { Readable, Writable } from 'node:stream'
import type { ExitFacts } from '@tenon/subprocess'

/**
 * Everything that starts one process, as plain data: nothing in it, and nothing above it, assumes that the host is the parent.
 * Files and FIFOs go in by path.
 */
export interface LaunchPlan {
  readonly argv: readonly [string, ...string[]]
  readonly argv0?: string
  readonly cwd: string
  /** Complete. */
  readonly env: Readonly<Record<string, string>>
  readonly stdin: StdinEnd
  readonly stdout: OutputEnd
  readonly stderr: OutputEnd
}

export type StdinEnd = { readonly kind: 'null' } | { readonly kind: 'pipe' } | { readonly kind: 'file' | 'fifo'; readonly path: string }
/** `null` is for programs that the provider itself runs. */
export type OutputEnd =
  | { readonly kind: 'null' }
  | { readonly kind: 'fifo'; readonly path: string }
  | { readonly kind: 'pipe' }
  | { readonly kind: 'inherit' }

/** What outlives the plan: needed to end the tree for a host that is gone. */
export interface LaunchTerms {
  readonly cookie: string
  readonly graceMs: number
}

export interface StartedProcess {
  readonly pid: number
  /** When it started, in the unit of the process table: set where the host is not the parent, so that it cannot know that the pid is still taken. */
  readonly start?: number
}

/** What a launcher tells, never before `launch` returned. Exactly one of `failed`, `revoked`, `exited` and `lost` is called, once. */
export interface LaunchEvents {
  /** Follows `starting`. */
  started(process: StartedProcess): void
  /** Nothing was started; `cause` is the very object the platform raised, or its likeness from another process. */
  failed(cause: unknown): void
  /** Nothing was started, as was asked. */
  revoked(): void
  /** The leader has exited and its process is reaped. */
  exited(facts: ExitFacts): void
  /** Nobody will tell the exit: whoever launched it is gone. Without `started` before, it is not known whether it ran. */
  lost(): void
  /** An error after the start: it changes no fact. */
  fault(error: Error): void
}

/** What came of a launch by the time `launch` returns. */
export type Launched =
  /** With the host's ends of what the plan has as `pipe`. */
  | { readonly state: 'started'; readonly process: StartedProcess; readonly stdin?: Writable; readonly stdout?: Readable; readonly stderr?: Readable }
  /** `failed`, or `revoked`, follows. */
  | { readonly state: 'failed' }
  /** `started`, `failed` or `revoked` follows. `revoke` asks for the last, which the start may have overtaken. */
  | { readonly state: 'starting'; revoke(): void }

export interface Launcher {
  /**
   * Never throws. The child leads a session and group of its own and gets no descriptor but those of the plan; a launcher that is the host
   * itself cannot keep from it what the host has inherited without close-on-exec.
   */
  launch(plan: LaunchPlan, terms: LaunchTerms, events: LaunchEvents): Launched
}
