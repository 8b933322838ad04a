import type { Readable, Writable } from 'node:stream'
import type { ExitFacts } from '@tenon/subprocess'

/**
 * Everything that starts one process, as plain data: nothing in it, and nothing above it, assumes that the host is the parent.
 * Files and FIFOs go in by path, and each is open when `launch` has returned; their names may be removed then.
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
export type OutputEnd = { readonly kind: 'fifo'; readonly path: string } | { readonly kind: 'pipe' } | { readonly kind: 'inherit' }

/** What a launcher tells. Exactly one of `failed` and `exited` is called, once, never before `launch` returned. */
export interface LaunchEvents {
  /** Nothing was started; `cause` is the very object the platform raised. */
  failed(cause: unknown): void
  /** The leader has exited and its process is reaped. */
  exited(facts: ExitFacts): void
  /** An error after the start: it changes no fact. */
  fault(error: Error): void
}

export interface Launched {
  /** Undefined when nothing was started; `failed` follows. */
  readonly pid: number | undefined
  /** The host's ends of what the plan has as `pipe`. */
  readonly stdin: Writable | undefined
  readonly stdout: Readable | undefined
  readonly stderr: Readable | undefined
}

export interface Launcher {
  /** Never throws. The child leads a session and group of its own and gets no descriptor but those of the plan. */
  launch(plan: LaunchPlan, events: LaunchEvents): Launched
}
