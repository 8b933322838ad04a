/** From the narrowest to none. */
export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access'

export interface SandboxPolicy {
  readonly mode: SandboxMode
  /** Absolute: what `workspace-write` may write to. */
  readonly workspaceRoot: string
  readonly sessionId?: string
}

/** What is known about the confinement of one execution. */
export interface SandboxFacts {
  readonly mode: SandboxMode
  /** The command failed because the sandbox refused it something. Never of a clean exit, a death by signal, or an abort. */
  readonly denied: boolean
  readonly enforcement?: 'full' | 'partial'
  /** The sandbox itself failed and the command did not run: `result()` rejects with SANDBOX_UNAVAILABLE. */
  readonly runnerFailed?: boolean
}
