import { capability } from '@tenon/kernel'
import type { SubprocessHandle } from './handle.ts'
import type { EnvEntries, SpawnSpec } from './spawn-spec.ts'

/**
 * Starts and owns process trees. Any plugin that injects `Subprocess` may call it; one provider per kernel.
 *
 * It belongs to one execution world: paths, `PATH`, working directories and processes share one namespace. It parses no shell text,
 * arms no deadline and names no cause; those who call it do.
 */
export interface Subprocess {
  /**
   * Starts a process and returns at once. Throws only `SPEC_INVALID` (before anything is opened or started); whatever else
   * prevents the start settles the returned handle: `pid` undefined, `done` rejected.
   * @throws SubprocessError SPEC_INVALID
   */
  spawn(spec: SpawnSpec): SubprocessHandle
  /**
   * Canonical absolute path of a program. A bare name is searched on the scrubbed `PATH` overlaid with `options.env`; an absolute path
   * must be an executable regular file; a relative path with a separator is refused. Rejects with EXECUTABLE_* codes, or with exactly
   * `options.signal.reason` when aborted. Never runs anything.
   */
  resolveExecutable(name: string, options?: { readonly env?: EnvEntries; readonly signal?: AbortSignal }): Promise<string>
}
export const Subprocess = capability<Subprocess>('subprocess')
