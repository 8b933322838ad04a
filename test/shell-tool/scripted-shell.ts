import { definePlugin, type Plugin } from '@tenon/kernel'
import {
  type CollectedText,
  Shell,
  ShellError,
  type ShellExecution,
  type ShellRequest,
  type ShellResult,
  type ShellSpec,
  shellResult,
} from '@tenon/shell'
import { asReader, ScriptedReader } from './scripted-reader.ts'

/** What a script decides: it gets the execution when it runs, and returns when it has nothing more to do. */
export type Script = (run: ScriptedExecution, spec: ShellSpec) => void

export interface ScriptedShellOptions {
  /** Waited for before a process runs; told of the abort of its preparation. */
  readonly prepare?: (spec: ShellSpec) => Promise<void>
  /** What starting fails with. */
  readonly failure?: () => Error
}

/** An executor whose programs are functions: for the PowerShell tool, and for facts no real shell can be made to show. */
export class ScriptedShell implements Shell {
  readonly sandboxMode = undefined
  readonly specs: ShellSpec[] = []
  readonly executions: ScriptedExecution[] = []
  script: Script
  options: ScriptedShellOptions

  constructor(script: Script, options: ScriptedShellOptions = {}) {
    this.script = script
    this.options = options
  }

  resolve(request: ShellRequest): ShellSpec {
    const { workdir = '/', timeoutMs = 120_000, onExpiry = 'kill', ...rest } = request
    return { stdoutMaxBytes: 64_000, sandboxPolicy: null, ...rest, workdir, onExpiry, timeoutMs: Math.min(timeoutMs, 600_000) }
  }

  async execute(spec: ShellSpec): Promise<ShellExecution> {
    this.specs.push(spec)
    if (this.options.failure !== undefined) throw this.options.failure()
    if (this.options.prepare !== undefined) await abortable(this.options.prepare(spec), spec.signal)
    const execution = new ScriptedExecution(spec)
    this.executions.push(execution)
    this.script(execution, spec)
    return execution
  }

  /** As a row that provides it. */
  get plugin(): Plugin<undefined> {
    return definePlugin({ name: 'scripted-shell', provides: [Shell], activate: (scope) => scope.provide(Shell, this) })
  }
}

interface End {
  readonly exitCode?: number | null
  readonly signal?: NodeJS.Signals
  readonly truncated?: boolean
  readonly failure?: Error
  readonly sandbox?: NonNullable<ShellResult['sandbox']>
}

export class ScriptedExecution implements ShellExecution {
  status: ShellExecution['status'] = 'running'
  exitCode: number | null = null
  signal: NodeJS.Signals | null = null
  readonly stdout = new ScriptedReader('/spill/out')
  readonly stderr = new ScriptedReader()
  readonly observed = { stdout: asReader(this.stdout), stderr: asReader(this.stderr) }
  readonly done: Promise<void>
  kills = 0
  /** What ends it when it is asked to stop; by default TERM does. */
  stops: () => void = () => this.end({ signal: 'SIGTERM' })
  #settle: () => void = () => undefined
  #cause: 'timedOut' | 'aborted' | 'kill' | undefined
  #end: End = {}
  readonly #timer: NodeJS.Timeout | undefined
  readonly #spec: ShellSpec

  constructor(spec: ShellSpec) {
    this.#spec = spec
    this.done = new Promise((resolve) => {
      this.#settle = resolve
    })
    if (spec.onExpiry === 'kill') this.#timer = setTimeout(() => this.#stop('timedOut'), spec.timeoutMs)
    spec.signal?.addEventListener('abort', () => this.#stop('aborted'))
  }

  end(end: End = {}): void {
    if (this.status !== 'running') return
    clearTimeout(this.#timer)
    this.#end = end
    this.signal = end.signal ?? null
    this.exitCode = end.signal !== undefined || end.failure !== undefined ? null : end.exitCode === undefined ? 0 : end.exitCode
    this.status = this.#cause !== undefined || end.signal !== undefined || end.failure !== undefined ? 'killed' : 'completed'
    this.stdout.finish()
    this.stderr.finish()
    this.#settle()
  }

  kill(): boolean {
    if (this.status !== 'running') return false
    this.kills++
    this.#stop('kill')
    return true
  }

  readOutput = () => ({ delta: '', lossy: false })
  survivors = async () => 0

  async result(): Promise<ShellResult> {
    await this.done
    if (this.#end.failure !== undefined) throw this.#end.failure
    const text = (reader: ScriptedReader, truncated: boolean): CollectedText => ({
      text: reader.text,
      bytes: reader.size(),
      truncated,
      ...(truncated && reader.spillPath !== undefined ? { spillPath: reader.spillPath } : {}),
    })
    return shellResult({
      exitCode: this.exitCode,
      signal: this.signal,
      timedOut: this.#cause === 'timedOut',
      aborted: this.#cause === 'aborted',
      timeoutMs: this.#spec.timeoutMs,
      durationMs: 1,
      stdout: text(this.stdout, this.#end.truncated === true),
      stderr: text(this.stderr, this.#end.truncated === true && this.stderr.size() > 0),
      ...(this.#end.sandbox === undefined ? {} : { sandbox: this.#end.sandbox }),
    })
  }

  #stop(cause: 'timedOut' | 'aborted' | 'kill'): void {
    if (this.status !== 'running') return
    this.#cause ??= cause
    this.stops()
  }
}

export const spawnFailure = (): Error => new ShellError('SHELL_SPAWN', 'spawn failed: EAGAIN', { cause: new Error('EAGAIN') })

function abortable(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject)
  })
}
