import type { Readable, Writable } from 'node:stream'
import { COOKIE_VARIABLE, type ExitFacts, type OutputReader, type SpawnSpec, SubprocessError, type SubprocessHandle } from '@tenon/subprocess'
import { OutputChannel } from './channel/output-channel.ts'
import { type StdinData, supplyStdin } from './channel/stdin-data.ts'
import type { LaunchEvents, Launched } from './launch/launch-plan.ts'
import { CapturedOutput } from './output/captured-output.ts'
import type { Runtime, Tracked } from './runtime.ts'
import { startFailure } from './start-failure.ts'
import { makeTree } from './tree/make-tree.ts'
import type { ProcessTree } from './tree/process-tree.ts'

/** One call of `spawn`, whatever came of it. */
export class Spawned implements SubprocessHandle {
  readonly pid: number | undefined
  readonly stdin?: Writable
  readonly stdout?: Readable
  readonly stderr?: Readable
  readonly output: { readonly stdout?: OutputReader; readonly stderr?: OutputReader }
  readonly done: Promise<ExitFacts>
  /** What is needed of the spec later; not the spec, which may hold megabytes of data. */
  readonly #asked: Pick<SpawnSpec, 'argv' | 'cwd' | 'graceMs'>
  readonly #runtime: Runtime
  readonly #channels: { readonly stdout: OutputChannel; readonly stderr: OutputChannel }
  #resolve: (facts: ExitFacts) => void = nothing
  #reject: (error: SubprocessError) => void = nothing
  #tree: ProcessTree | undefined
  #tracked: Tracked | undefined
  #data: StdinData | undefined
  #forgetAbort: () => void = nothing

  /** `env` is complete but for the cookie. */
  constructor(spec: SpawnSpec, env: Readonly<Record<string, string>>, runtime: Runtime) {
    this.#asked = { argv: [spec.argv[0]], cwd: spec.cwd, graceMs: spec.graceMs }
    this.#runtime = runtime
    this.#channels = { stdout: new OutputChannel(spec.stdout, runtime.channels), stderr: new OutputChannel(spec.stderr, runtime.channels) }
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A caller that does not look at `done` is no fault of the host's.
    this.done.catch(nothing)
    const { stdout, stderr } = this.#channels
    const launched = this.#start(spec, env)
    this.pid = launched?.pid
    if (spec.stdin === 'pipe' && launched?.stdin !== undefined) this.stdin = launched.stdin
    if (stdout.stream !== undefined) this.stdout = stdout.stream
    if (stderr.stream !== undefined) this.stderr = stderr.stream
    this.output = {
      ...(stdout.capture !== undefined && { stdout: new CapturedOutput(stdout.capture, runtime.aborts) }),
      ...(stderr.capture !== undefined && { stderr: new CapturedOutput(stderr.capture, runtime.aborts) }),
    }
  }

  terminate(): void {
    this.#tree?.terminate()
  }

  async waitForExit(signal?: AbortSignal): Promise<boolean> {
    return this.#tree?.waitForExit(signal) ?? true
  }

  async survivors(): Promise<number> {
    return this.#tree?.survivors() ?? 0
  }

  #failed(cause: unknown): void {
    this.#reject(startFailure(this.#asked, cause))
  }

  #exited(facts: ExitFacts): void {
    this.#tree?.leaderEnded()
    const { stdout, stderr } = this.#channels
    const settling = [stdout.settle(), stderr.settle()].filter((pending) => pending !== undefined)
    this.#data?.detach()
    if (settling.length === 0) this.#resolve(facts)
    else void this.#settleLater(settling, facts)
    if (this.#tracked !== undefined) this.#runtime.settled(this.#tracked)
  }

  #fault(error: Error): void {
    this.#runtime.warnings.log.warn({ err: error, pid: this.pid }, 'an error of a running process; its exit facts are unaffected')
  }

  #start(spec: SpawnSpec, env: Readonly<Record<string, string>>): Launched | undefined {
    if (this.#runtime.closing) return this.#refuse(new SubprocessError('RUNTIME_CLOSED', `cannot start ${spec.argv[0]}: the runtime is closing`))
    if (spec.signal?.aborted === true) {
      const cause: unknown = spec.signal.reason
      return this.#refuse(new SubprocessError('ABORTED_BEFORE_SPAWN', `${spec.argv[0]} was not started: its signal had aborted before`, { cause }))
    }
    const { stdout, stderr } = this.#channels
    const cookie = this.#runtime.nextCookie()
    try {
      stdout.open()
      stderr.open()
      this.#data = this.#supply(spec.stdin, cookie)
    } catch (cause) {
      this.#cancel()
      this.#failed(cause)
      return undefined
    }
    const events: LaunchEvents = {
      failed: (cause) => this.#failed(cause),
      exited: (facts) => this.#exited(facts),
      fault: (error) => this.#fault(error),
    }
    const launched = this.#runtime.world.launcher.launch(
      {
        argv: spec.argv,
        ...(spec.argv0 !== undefined && { argv0: spec.argv0 }),
        cwd: spec.cwd,
        // First, so that it is near the beginning of what a scan reads.
        env: Object.assign(Object.create(null) as Record<string, string>, { [COOKIE_VARIABLE]: cookie }, env),
        stdin: this.#data?.end ?? { kind: spec.stdin === 'pipe' ? 'pipe' : 'null' },
        stdout: stdout.end,
        stderr: stderr.end,
      },
      events,
    )
    if (launched.pid === undefined) this.#cancel()
    else this.#own(launched, launched.pid, cookie, spec.signal)
    return launched
  }

  #own(launched: Launched, pid: number, cookie: string, signal: AbortSignal | undefined): void {
    const { stdout, stderr } = this.#channels
    const { graceMs, argv } = this.#asked
    stdout.launched(launched.stdout, this.#runtime.open)
    stderr.launched(launched.stderr, this.#runtime.open)
    this.#data?.launched(launched.stdin)
    const tree = makeTree({ pid, cookie, graceMs }, this.#runtime, { left: () => this.#leave(), gone: () => this.#vanish() })
    for (const { capture } of [stdout, stderr]) if (capture !== undefined) capture.onWaiting = (waiting) => tree.follow(waiting)
    this.#tree = tree
    this.#tracked = { tree, cookie, program: argv[0], graceMs }
    this.#runtime.live.add(this.#tracked)
    if (signal !== undefined) this.#forgetAbort = this.#runtime.aborts.on(signal, () => tree.terminate())
  }

  #supply(stdin: SpawnSpec['stdin'], cookie: string): StdinData | undefined {
    return typeof stdin === 'object' ? supplyStdin(stdin.data, `${cookie}.in`, this.#runtime.directory, this.#runtime.channels.stock) : undefined
  }

  /**
   * A stream's file may hang, or be slow. The bound is the one that callers gave for the end of a process; nothing is lost by it: the
   * path is published when the file is complete, and until then reads are served from memory.
   */
  async #settleLater(settling: readonly Promise<void>[], facts: ExitFacts): Promise<void> {
    await new Promise<void>((resolve) => {
      const enough = this.#runtime.world.clock.after(this.#asked.graceMs, resolve)
      void Promise.all(settling).then(() => {
        enough.cancel()
        resolve()
      })
    })
    this.#resolve(facts)
  }

  #leave(): void {
    if (this.#tracked !== undefined) this.#runtime.live.delete(this.#tracked)
    this.#forgetAbort()
  }

  #vanish(): void {
    this.#leave()
    this.#channels.stdout.abandoned()
    this.#channels.stderr.abandoned()
  }

  #refuse(error: SubprocessError): undefined {
    this.#cancel()
    this.#reject(error)
  }

  #cancel(): void {
    this.#channels.stdout.cancel()
    this.#channels.stderr.cancel()
    this.#data?.cancel()
  }
}

function nothing(): void {}
