import { PassThrough, type Readable, type Writable } from 'node:stream'
import {
  type ExitFacts,
  type OutputMode,
  type SpawnSpec,
  type Subprocess,
  SubprocessError,
  type SubprocessHandle,
  validateSpec,
} from '@tenon/subprocess'
import { Happenings, type Match, Script } from './script.ts'
import { ScriptedOutput } from './scripted-output.ts'

/** How a scripted process ends at once; without `exitCode` and `signal` it exits with 0. */
export interface ProcessAnswer {
  readonly stdout?: string
  readonly stderr?: string
  readonly exitCode?: number
  readonly signal?: NodeJS.Signals
}

/** Far above what a kernel gives out, so that a test that signals one by mistake hits nobody. */
const FIRST_PID = 2 ** 30

/**
 * A `Subprocess` that starts nothing: processes end as the test has scripted, or when it says so. A string or pattern is compared
 * with the arguments, joined by blanks. A spawn that nothing is scripted for throws. No time passes and nothing ignores a signal:
 * `terminate()` ends a process with SIGTERM.
 */
export class ScriptedSubprocess implements Subprocess {
  /** Names that `resolveExecutable` finds, with their paths. */
  readonly executables = new Map<string, string>()
  readonly #script = new Script<SpawnSpec, ProcessAnswer | 'runs' | 'fails'>(({ argv }) => argv.join(' '))
  readonly #processes = new Happenings<ScriptedProcess>()

  /** From now on, spawns that match end like this, keep running, or cannot be started. */
  script(match: Match<SpawnSpec>, answer: ProcessAnswer | 'runs' | 'fails'): void {
    this.#script.add(match, answer)
  }

  get processes(): readonly ScriptedProcess[] {
    return this.#processes.all
  }

  /** The next process that this has not given yet. */
  next(): Promise<ScriptedProcess> {
    return this.#processes.next()
  }

  spawn(spec: SpawnSpec): ScriptedProcess {
    validateSpec(spec, process.platform)
    const answer = this.#script.answer(spec)
    const started = new ScriptedProcess(spec, answer === 'fails' ? undefined : FIRST_PID + this.#processes.all.length)
    this.#processes.add(started)
    if (typeof answer === 'object') started.end(answer)
    return started
  }

  async resolveExecutable(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<string> {
    options.signal?.throwIfAborted()
    const path = this.executables.get(name)
    if (path === undefined) throw new SubprocessError('EXECUTABLE_NOT_FOUND', `"${name}" is not among the scripted executables`)
    return path
  }
}

/** One scripted process, in the hands of the test. */
export class ScriptedProcess implements SubprocessHandle {
  readonly spec: SpawnSpec
  readonly pid: number | undefined
  readonly stdin?: Writable
  readonly stdout?: Readable
  readonly stderr?: Readable
  readonly output: { readonly stdout?: ScriptedOutput; readonly stderr?: ScriptedOutput }
  readonly started: Promise<boolean>
  readonly done: Promise<ExitFacts>
  #isOver = false
  #resolve: (facts: ExitFacts) => void = () => undefined
  #reject: (error: Error) => void = () => undefined

  constructor(spec: SpawnSpec, pid: number | undefined) {
    this.spec = spec
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.done.catch(() => undefined)
    if (spec.stdin === 'pipe') this.stdin = new PassThrough()
    if (spec.stdout === 'pipe') this.stdout = new PassThrough()
    if (spec.stderr === 'pipe') this.stderr = new PassThrough()
    const collected = (mode: OutputMode): ScriptedOutput | undefined => (typeof mode === 'object' ? new ScriptedOutput() : undefined)
    const [stdout, stderr] = [collected(spec.stdout), collected(spec.stderr)]
    this.output = { ...(stdout && { stdout }), ...(stderr && { stderr }) }
    const { signal } = spec
    if (signal?.aborted === true) this.#fail('ABORTED_BEFORE_SPAWN', 'aborted before the start', signal.reason)
    else if (pid === undefined) this.#fail('SPAWN_FAILED', `scripted to fail: ${spec.argv.join(' ')}`, undefined)
    else {
      this.pid = pid
      signal?.addEventListener('abort', () => this.terminate(), { once: true })
    }
    this.started = Promise.resolve(this.pid !== undefined)
  }

  write(stream: 'stdout' | 'stderr', data: string): void {
    this.output[stream]?.write(data)
    const pipe = this[stream]
    if (pipe instanceof PassThrough) pipe.write(data)
  }

  end({ stdout, stderr, exitCode, signal }: ProcessAnswer = {}): void {
    if (this.#isOver) return
    if (stdout !== undefined) this.write('stdout', stdout)
    if (stderr !== undefined) this.write('stderr', stderr)
    this.#finish()
    this.#resolve(signal === undefined ? { exitCode: exitCode ?? 0, signal: null } : { exitCode: null, signal })
  }

  terminate(): void {
    this.end({ signal: 'SIGTERM' })
  }

  waitForExit(signal?: AbortSignal): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(true)
    return new Promise((resolve) => {
      const give = (): void => resolve(false)
      if (signal?.aborted === true) return give()
      signal?.addEventListener('abort', give, { once: true })
      void this.done.then(() => {
        signal?.removeEventListener('abort', give)
        resolve(true)
      })
    })
  }

  survivors(): Promise<number> {
    return Promise.resolve(0)
  }

  #fail(code: 'ABORTED_BEFORE_SPAWN' | 'SPAWN_FAILED', message: string, cause: unknown): void {
    this.#finish()
    this.#reject(new SubprocessError(code, message, { cause }))
  }

  #finish(): void {
    this.#isOver = true
    this.output.stdout?.finish()
    this.output.stderr?.finish()
    for (const pipe of [this.stdout, this.stderr]) if (pipe instanceof PassThrough) pipe.end()
    this.stdin?.destroy()
  }
}
