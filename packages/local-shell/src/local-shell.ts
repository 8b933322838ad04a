import { AbortHub } from '@tenon/abort-hub'
import type { SandboxMode, Shell, ShellExecution, ShellRequest, ShellSpec } from '@tenon/shell'
import type { SpawnSpec, Subprocess, SubprocessHandle } from '@tenon/subprocess'
import type { LocalShellConfig } from './config.ts'
import type { Confinement, PreparedLaunch } from './confinement.ts'
import type { Dialect } from './dialect.ts'
import { LocalExecution, raisedByPlatform } from './execution.ts'
import { FirstCause } from './first-cause.ts'
import type { ShellHost } from './host.ts'
import { type Preparation, type Prepared, prepare, prepareAtOnce, ScriptNotWritten } from './preparation.ts'
import { ShellProgram } from './program.ts'
import { type RequestRules, resolveRequest, validateSpec } from './request-rules.ts'

/** What the platform says where it is short of something: any other of its faults can be one of a directory or a program. */
const SHORTAGES: ReadonlySet<unknown> = new Set(['E2BIG', 'EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])

/** A shell over the subprocess capability; the dialect says which. Holds nothing that needs closing: executions own themselves. */
export class LocalShell implements Shell {
  readonly sandboxMode: SandboxMode | undefined
  readonly #subprocess: Subprocess
  readonly #rules: RequestRules
  readonly #preparation: Preparation
  readonly #aborts = new AbortHub()

  constructor(dialect: Dialect, subprocess: Subprocess, config: LocalShellConfig, host: ShellHost, confinement?: Confinement) {
    this.sandboxMode = confinement?.policy.mode
    this.#subprocess = subprocess
    this.#rules = { platform: host.platform, config, cwd: config.cwd ?? host.cwd, confinement }
    this.#preparation = { dialect, config, host, confinement, program: new ShellProgram(dialect, subprocess, host, config.executable) }
  }

  resolve(request: ShellRequest): ShellSpec {
    return resolveRequest(request, this.#rules)
  }

  async execute(spec: ShellSpec): Promise<ShellExecution> {
    validateSpec(spec, this.#rules)
    const execution = this.#execution(spec)
    if (spec.signal?.aborted === true) return execution.neverRan('abort')
    const cause = new FirstCause(spec.signal, this.#aborts)
    const ready = prepareAtOnce(spec, this.#preparation)
    if (ready === undefined || spec.onExpiry === 'kill') cause.arm(spec.timeoutMs)
    if (ready !== undefined && (await this.#startsAtOnce(execution, spec, cause, ready))) return execution
    return this.#executePrepared(execution, spec, cause)
  }

  /**
   * Spawns before anything is awaited. False if nothing was started, for what can be a fault of the directory or of the program: whoever looks at
   * them can say which, and the program may be somewhere else by now. Nothing of the execution is settled then.
   * @throws the reason of an abort before there was a process, as from any preparation
   */
  async #startsAtOnce(execution: LocalExecution, spec: ShellSpec, cause: FirstCause, ready: Prepared): Promise<boolean> {
    let started: SubprocessHandle
    try {
      started = this.#subprocess.spawn(this.#spawnSpec(spec, ready.launch))
    } catch (error) {
      if (canBeOfPath(error)) return false
      await execution.failedToStart(error, cause, ready.aftermath)
      return true
    }
    // A start may take its time, and be called off.
    cause.onRecorded(() => started.terminate())
    if (!(await started.started)) {
      const isOfPath = await started.done.then(() => false, canBeOfPath)
      if (cause.recorded === 'abort') {
        cause.close()
        throw spec.signal?.reason
      }
      if (isOfPath) return false
    }
    await execution.run(started, cause, ready.aftermath)
    return true
  }

  async #executePrepared(execution: LocalExecution, spec: ShellSpec, cause: FirstCause): Promise<ShellExecution> {
    try {
      // Of one that was tried before, what is left.
      cause.arm(spec.timeoutMs - execution.elapsedMs)
      const prepared = cause.recorded === undefined ? await prepareUntil(cause, spec, this.#preparation) : undefined
      if (prepared === undefined || cause.recorded !== undefined) {
        void prepared?.aftermath.release()
        if (cause.recorded === 'abort') throw spec.signal?.reason
        return execution.neverRan('deadline')
      }
      // From the look at the cause to the spawn nothing is awaited: an abort in between would be lost.
      if (spec.onExpiry === 'none') cause.dropDeadline()
      return await this.#spawn(execution, spec, cause, prepared)
    } catch (error) {
      cause.close()
      if (error instanceof ScriptNotWritten) return execution.failedToStart(error.cause, cause)
      throw error
    }
  }

  #execution(spec: ShellSpec): LocalExecution {
    const { config, dialect, host } = this.#preparation
    return new LocalExecution({
      shell: dialect.name,
      timeoutMs: spec.timeoutMs,
      stdoutMaxBytes: spec.stdoutMaxBytes,
      stderrMaxBytes: config.maxOutputBytes,
      now: () => host.now(),
      warn: (error, what) => host.warn(error, what),
    })
  }

  #spawn(execution: LocalExecution, spec: ShellSpec, cause: FirstCause, prepared: Prepared): Promise<LocalExecution> {
    try {
      return execution.run(this.#subprocess.spawn(this.#spawnSpec(spec, prepared.launch)), cause, prepared.aftermath)
    } catch (error) {
      return execution.failedToStart(error, cause, prepared.aftermath)
    }
  }

  /** The signal stays here: the provider would end the tree without the cause being known. */
  #spawnSpec(spec: ShellSpec, launch: PreparedLaunch): SpawnSpec {
    const { maxOutputBytes, maxSpillBytes, graceMs } = this.#preparation.config
    return {
      argv: launch.argv,
      argv0: launch.argv0,
      cwd: launch.workdir,
      env: launch.env,
      stdin: spec.stdin === undefined ? 'ignore' : { data: spec.stdin },
      stdout: { maxBytes: spec.stdoutMaxBytes, spill: { maxBytes: maxSpillBytes } },
      stderr: { maxBytes: maxOutputBytes, spill: { maxBytes: maxSpillBytes } },
      graceMs,
    }
  }
}

function canBeOfPath(error: unknown): boolean {
  const { code } = (raisedByPlatform(error) ?? {}) as { code?: unknown }
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) && !SHORTAGES.has(code)
}

/** The preparation, or undefined as soon as there is a cause not to wait for it; then it is released whenever it ends. */
async function prepareUntil(cause: FirstCause, spec: ShellSpec, preparation: Preparation): Promise<Prepared | undefined> {
  const gaveUp = new AbortController()
  const interrupted = new Promise<undefined>((resolve) => {
    cause.onRecorded((first) => {
      resolve(undefined)
      gaveUp.abort(first === 'abort' ? spec.signal?.reason : new DOMException(`not prepared within ${spec.timeoutMs} ms`, 'TimeoutError'))
    })
  })
  const preparing = prepare(spec, preparation, gaveUp.signal)
  const prepared = await Promise.race([preparing, interrupted])
  if (prepared === undefined) preparing.then((late) => late.aftermath.release()).catch(() => undefined)
  return prepared
}
