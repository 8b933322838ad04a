import { capability, type Scope } from '@tenon/kernel'
import type { ShellEnvContext, ShellEnvContributor } from './contributor.ts'

/**
 * The managed environment of shell commands: variables beginning with `TENON_` that tell a command where it runs. Everything of that
 * name that the host itself was started with is dropped before, so a command sees exactly what is collected here.
 *
 * Built in: `TENON_HOME` (always absolute), `TENON_SHELL=1`, `TENON_SESSION_ID` with a session, `TENON_PROFILE` and
 * `TENON_PROFILE_DIR` where a profile is in use.
 */
export interface ShellEnv {
  /**
   * All of it or nothing; removed with the scope.
   * @throws ShellEnvError; the message of KEY_TAKEN names both owners
   * @throws KernelError SCOPE_CLOSED
   */
  register(scope: Scope, contributor: ShellEnvContributor): void
  /** Frozen, key-sorted. Never throws. */
  collect(context: ShellEnvContext): Readonly<Record<string, string>>
  /** Declarations only, key-sorted; no resolver is run, built-ins are not in it. */
  list(): readonly ShellEnvDeclaration[]
}
export const ShellEnv = capability<ShellEnv>('shell-env')

export interface ShellEnvDeclaration {
  readonly contributor: string
  readonly key: string
  readonly description: string
}
