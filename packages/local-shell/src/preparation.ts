import { type SandboxFacts, type SandboxPolicy, ShellError, type ShellSpec } from '@tenon/shell'
import type { LocalShellConfig } from './config.ts'
import type { ConfinedLaunch, Confinement, PreparedLaunch } from './confinement.ts'
import type { Dialect } from './dialect.ts'
import { layeredEnv } from './environment.ts'
import type { ShellHost } from './host.ts'
import type { ShellProgram } from './program.ts'
import { removeScript, writeScript } from './script-directory.ts'
import { assertEnterable } from './working-directory.ts'

/** A launch that only has to be spawned, and what is left to do about it. */
export interface Prepared {
  readonly launch: PreparedLaunch
  readonly aftermath: Aftermath
}

/** What an execution keeps of its preparation. */
export interface Aftermath {
  readonly facts?: SandboxFacts
  readonly classify?: ConfinedLaunch['classify']
  /** Undoes the preparation; exactly once. The promise is of a script that is being removed. Never rejects. */
  release(): Promise<void> | undefined
}

/** The script file could not be written: a failed start, unlike every other obstacle. */
export class ScriptNotWritten extends Error {}

export interface Preparation {
  readonly dialect: Dialect
  readonly config: LocalShellConfig
  readonly host: ShellHost
  readonly program: ShellProgram
  readonly confinement: Confinement | undefined
}

/**
 * A launch of which nothing has to be waited for: the program is known, the text is an argument, nothing confines. Neither directory nor
 * program is looked at: to start tells as much.
 */
export function prepareAtOnce(spec: ShellSpec, with_: Preparation): Prepared | undefined {
  const { dialect, host, program } = with_
  const path = confines(spec.sandboxPolicy) ? undefined : program.remembered
  if (path === undefined) return undefined
  const launch = dialect.launch(spec.command, host.platform)
  return launch.form === 'argument' ? { launch: launchOf(spec, with_, path, launch.args), aftermath: plainAftermath(spec, undefined) } : undefined
}

/**
 * Looks at directory and program at the same time, then writes the script if the text needs one, then confines. Starts nothing.
 * @throws ShellError SHELL_BAD_CWD, SHELL_MISSING, SANDBOX_UNAVAILABLE, in this order; ScriptNotWritten
 */
export async function prepare(spec: ShellSpec, with_: Preparation, signal: AbortSignal): Promise<Prepared> {
  const { host, program } = with_
  const [directory, path] = await Promise.allSettled([assertEnterable(spec.workdir, host.platform), program.path()])
  if (directory.status === 'rejected') throw directory.reason
  if (path.status === 'rejected') throw path.reason
  const confine = confinementFor(spec.sandboxPolicy, with_)
  const { args, script } = await argumentsOf(spec.command, with_)
  const launch = launchOf(spec, with_, path.value, args)
  return confine === undefined ? { launch, aftermath: plainAftermath(spec, script) } : confine(launch, script, signal)
}

function launchOf(spec: ShellSpec, { dialect, config, host }: Preparation, path: string, args: readonly string[]): PreparedLaunch {
  return {
    argv: [path, ...args],
    argv0: dialect.name,
    workdir: spec.workdir,
    env: layeredEnv(host.platform, dialect.env, config.env, spec.env, spec.managedEnv),
  }
}

function plainAftermath({ sandboxPolicy }: ShellSpec, script: string | undefined): Aftermath {
  const facts = sandboxPolicy === null ? undefined : { mode: sandboxPolicy.mode, denied: false }
  return { ...(facts !== undefined && { facts }), release: () => (script === undefined ? undefined : removeScript(script)) }
}

async function argumentsOf(command: string, { dialect, host }: Preparation): Promise<{ args: readonly string[]; script?: string }> {
  const launch = dialect.launch(command, host.platform)
  if (launch.form === 'argument') return { args: launch.args }
  try {
    const script = await writeScript(host.scripts, launch.extension, launch.contents)
    return { args: launch.args(script), script }
  } catch (cause) {
    throw new ScriptNotWritten('the script file could not be written', { cause })
  }
}

function confines(policy: SandboxPolicy | null): policy is SandboxPolicy {
  return policy !== null && policy.mode !== 'danger-full-access'
}

type Confine = (launch: PreparedLaunch, script: string | undefined, signal: AbortSignal) => Promise<Prepared>

/** @throws ShellError SANDBOX_UNAVAILABLE where nothing can do what the policy asks: there is no silent pass-through */
function confinementFor(policy: SandboxPolicy | null, { confinement, dialect, host }: Preparation): Confine | undefined {
  if (!confines(policy)) return undefined
  if (confinement === undefined) {
    throw new ShellError(
      'SANDBOX_UNAVAILABLE',
      `this ${dialect.name} executor does not confine, and the command asks for ${policy.mode} mode; load an executor that does`,
    )
  }
  return async (launch, script, signal) => {
    let confined: ConfinedLaunch
    try {
      signal.throwIfAborted()
      confined = await confinement.prepare(launch, policy, signal)
    } catch (cause) {
      if (script !== undefined) await removeScript(script)
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new ShellError('SANDBOX_UNAVAILABLE', `the sandbox could not be set up under ${policy.mode} mode: ${why}`, { cause })
    }
    const release = (): Promise<void> | undefined => {
      releaseConfined(confined, host)
      return script === undefined ? undefined : removeScript(script)
    }
    return { launch: confined, aftermath: { facts: confined.facts, classify: (outcome) => confined.classify(outcome), release } }
  }
}

/** Nobody waits for a sandbox to tidy up: it could hang, and the command is over. */
function releaseConfined(confined: ConfinedLaunch, host: ShellHost): void {
  const report = (error: unknown): void => host.warn(error, 'a sandbox failed to release a launch')
  try {
    void Promise.resolve(confined.release?.()).catch(report)
  } catch (error) {
    report(error)
  }
}
