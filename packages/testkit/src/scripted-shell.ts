import {
  type Shell,
  ShellError,
  type ShellExecution,
  type ShellRead,
  type ShellRequest,
  type ShellResult,
  type ShellSpec,
  shellResult,
} from '@tenon/shell'
import { Happenings, type Match, Script } from './script.ts'
import { ScriptedOutput } from './scripted-output.ts'

/** How a scripted command ends at once; without `exitCode` and `signal` it exits with 0. */
export interface ShellAnswer {
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  readonly signal?: NodeJS.Signals
}

export interface ScriptedShellOptions {
  readonly workdir?: string
  readonly timeoutMs?: number
}

/**
 * A `Shell` that runs nothing: commands end as the test has scripted, or when it says so.
 *
 *     const shell = new ScriptedShell()
 *     shell.script('make', { stdout: 'built\n' })
 *     shell.script(/^sleep/, 'runs')        // until kill, abort, or (await shell.next()).exit(0)
 *     await using app = await harness([providing(Shell, shell), myTool])
 *
 * No time passes: a deadline is over when the test calls `expire()`. A command that nothing is scripted for rejects.
 */
export class ScriptedShell implements Shell {
  readonly sandboxMode = undefined
  readonly #script = new Script<ShellSpec, ShellAnswer | 'runs' | Error>(({ command }) => command)
  readonly #executions = new Happenings<ScriptedExecution>()
  readonly #defaults: Required<ScriptedShellOptions>

  constructor({ workdir = '/work', timeoutMs = 120_000 }: ScriptedShellOptions = {}) {
    this.#defaults = { workdir, timeoutMs }
  }

  /** From now on, commands that match end like this, keep running, or reject with the error. */
  script(match: Match<ShellSpec>, answer: ShellAnswer | 'runs' | Error): void {
    this.#script.add(match, answer)
  }

  /** Every execution so far, in order. */
  get executions(): readonly ScriptedExecution[] {
    return this.#executions.all
  }

  /** The next execution that this has not given yet. */
  next(): Promise<ScriptedExecution> {
    return this.#executions.next()
  }

  resolve(request: ShellRequest): ShellSpec {
    const { command } = request
    if (typeof command !== 'string' || command.includes('\0')) {
      throw new ShellError('SHELL_BAD_COMMAND', 'command must be text without NUL', { details: { field: 'command' } })
    }
    const timeoutMs = request.timeoutMs ?? this.#defaults.timeoutMs
    if (!Number.isInteger(timeoutMs) || timeoutMs < 1) {
      throw new ShellError('SHELL_BAD_REQUEST', 'timeoutMs must be a positive integer (milliseconds)', { details: { field: 'timeoutMs' } })
    }
    const { workdir = this.#defaults.workdir, onExpiry = 'kill', stdoutMaxBytes = 64 * 1024, sandboxPolicy = null, ...rest } = request
    return { ...rest, command, workdir, timeoutMs, onExpiry, stdoutMaxBytes, sandboxPolicy }
  }

  async execute(spec: ShellSpec): Promise<ScriptedExecution> {
    const answer = this.#script.answer(spec)
    if (answer instanceof Error) throw answer
    const execution = new ScriptedExecution(spec)
    this.#executions.add(execution)
    if (answer !== 'runs' && execution.status === 'running') execution.end(answer)
    return execution
  }
}

/** One scripted command, in the hands of the test. */
export class ScriptedExecution implements ShellExecution {
  readonly spec: ShellSpec
  readonly observed = { stdout: new ScriptedOutput(), stderr: new ScriptedOutput() }
  readonly done: Promise<void>
  status: ShellExecution['status'] = 'running'
  exitCode: number | null = null
  signal: NodeJS.Signals | null = null
  #cause: 'deadline' | 'abort' | 'kill' | undefined
  #settle: () => void = () => undefined
  #result: Promise<ShellResult> | undefined
  readonly #read = { stdout: 0, stderr: 0 }

  constructor(spec: ShellSpec) {
    this.spec = spec
    this.done = new Promise((resolve) => {
      this.#settle = resolve
    })
    const { signal } = spec
    if (signal?.aborted === true) this.#stop('abort', null)
    else signal?.addEventListener('abort', () => this.#stop('abort', 'SIGTERM'), { once: true })
  }

  /** Writes what is left to write, and exits. */
  end({ stdout, stderr, exitCode, signal }: ShellAnswer = {}): void {
    if (stdout !== undefined) this.observed.stdout.write(stdout)
    if (stderr !== undefined) this.observed.stderr.write(stderr)
    if (signal === undefined) this.exit(exitCode ?? 0)
    else this.#end('killed', null, signal)
  }

  exit(exitCode: number): void {
    this.#end('completed', exitCode, null)
  }

  /** The deadline is over: ends the command, unless it was to go on (`onExpiry: 'none'`). */
  expire(): void {
    if (this.spec.onExpiry === 'kill') this.#stop('deadline', 'SIGTERM')
  }

  kill(): boolean {
    if (this.status !== 'running') return false
    this.#stop('kill', 'SIGTERM')
    return true
  }

  survivors(): Promise<number> {
    return Promise.resolve(0)
  }

  readOutput(): ShellRead {
    const out = this.#unread('stdout')
    const err = this.#unread('stderr')
    const separator = out === '' || out.endsWith('\n') ? '' : '\n'
    return { delta: err === '' ? out : `${out}${separator}[stderr]\n${err}`, lossy: false }
  }

  result(): Promise<ShellResult> {
    this.#result ??= this.done.then(() => {
      const stdout = collected(this.observed.stdout)
      const stderr = collected(this.observed.stderr)
      const { exitCode, signal } = this
      const { timeoutMs } = this.spec
      return shellResult({
        ...{ exitCode, signal, timeoutMs, durationMs: 0, stdout, stderr },
        ...{ timedOut: this.#cause === 'deadline', aborted: this.#cause === 'abort' },
      })
    })
    return this.#result
  }

  #unread(stream: 'stdout' | 'stderr'): string {
    const { text, nextOffset } = this.observed[stream].readFrom(this.#read[stream])
    this.#read[stream] = nextOffset
    return text
  }

  #stop(cause: 'deadline' | 'abort' | 'kill', signal: NodeJS.Signals | null): void {
    if (this.status !== 'running') return
    this.#cause = cause
    this.#end('killed', null, signal)
  }

  #end(status: 'completed' | 'killed', exitCode: number | null, signal: NodeJS.Signals | null): void {
    if (this.status !== 'running') return
    Object.assign(this, { status, exitCode, signal })
    this.observed.stdout.finish()
    this.observed.stderr.finish()
    this.#settle()
  }
}

function collected(stream: ScriptedOutput): ShellResult['stdout'] {
  return { text: stream.readFrom(0).text, bytes: stream.size(), truncated: false }
}
