import {
  type EnvEntries,
  overlayEnvironment,
  type ScrubRules,
  type SpawnSpec,
  type Subprocess,
  type SubprocessHandle,
  scrubEnvironment,
  validateSpec,
} from '@tenon/subprocess'
import { findExecutable } from './lookup.ts'
import type { Runtime } from './runtime.ts'
import { Spawned } from './spawned.ts'
import type { Log } from './warnings.ts'

/** The view of one activation over what lives longer: its rules for the environment. */
export class LocalSubprocess implements Subprocess {
  readonly #runtime: Runtime
  readonly #inherited: Readonly<Record<string, string>>

  constructor(runtime: Runtime, rules: ScrubRules, log: Log) {
    this.#runtime = runtime
    const { env, removed } = scrubEnvironment(runtime.world.environment, rules, runtime.world.platform)
    this.#inherited = env
    log.debug({ removed }, 'variables that children do not inherit')
  }

  spawn(spec: SpawnSpec): SubprocessHandle {
    validateSpec(spec, this.#runtime.world.platform)
    return new Spawned(spec, this.#overlaid(spec.env), this.#runtime)
  }

  async resolveExecutable(name: string, options: { readonly env?: EnvEntries; readonly signal?: AbortSignal } = {}): Promise<string> {
    return findExecutable(name, this.#overlaid(options.env), this.#runtime.world.platform, options.signal)
  }

  #overlaid(entries: EnvEntries | undefined): Readonly<Record<string, string>> {
    return entries === undefined ? this.#inherited : overlayEnvironment(this.#inherited, entries, this.#runtime.world.platform)
  }
}
