import type { SandboxFacts, SandboxPolicy } from '@tenon/shell'
import type { EnvEntries, ExitFacts } from '@tenon/subprocess'

/** The seam for sandboxes; absent in the plain executors. */
export interface Confinement {
  /** The deployment's own mode and root. */
  readonly policy: SandboxPolicy
  /**
   * Wraps one launch; called anew for each. May wait, and must honour `signal`, which aborts when the deadline passes or the caller
   * gives up. A rejection means SANDBOX_UNAVAILABLE, and the command does not run.
   */
  prepare(launch: PreparedLaunch, policy: SandboxPolicy, signal: AbortSignal): Promise<ConfinedLaunch>
}

export interface PreparedLaunch {
  /** The resolved program and its arguments. */
  readonly argv: readonly [string, ...string[]]
  readonly argv0: string
  readonly workdir: string
  /** Over the host's scrubbed environment; undefined removes. */
  readonly env: EnvEntries
}

export interface ConfinedLaunch extends PreparedLaunch {
  readonly facts: SandboxFacts
  /** Called once, before the execution settles. `stderrTail` is what was kept of stderr. */
  classify(outcome: ConfinedOutcome): { readonly facts: SandboxFacts; readonly detail?: string }
  /** Called exactly once for every launch that `prepare` delivered, also when it was delivered too late to be used. */
  release?(): void | Promise<void>
}

export interface ConfinedOutcome {
  /** Absent when the process could not be started. */
  readonly exit?: ExitFacts
  readonly spawnError?: unknown
  readonly stderrTail: string
  readonly aborted: boolean
}

/** What holds of sandbox facts whoever classified: abort outranks runner failure, which outranks denial; a clean exit and a death by signal are no denials. */
export function rankedFacts(facts: SandboxFacts, outcome: ConfinedOutcome): SandboxFacts {
  const { denied, runnerFailed, ...rest } = facts
  if (outcome.aborted) return { ...rest, denied: false }
  if (runnerFailed === true) return { ...rest, denied: false, runnerFailed }
  const exitCode = outcome.exit?.exitCode ?? null
  return { ...rest, denied: denied && exitCode !== null && exitCode !== 0 }
}
