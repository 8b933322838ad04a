import type { Readable, Writable } from 'node:stream'
import { COOKIE_VARIABLE, type ExitFacts, type OutputReader, type SpawnSpec, SubprocessError, type SubprocessHandle } from '@tenon/subprocess'
import { OutputChannel } from './channel/output-channel.ts'
import { feedStdin, type StdinFeed } from './channel/stdin-feed.ts'
import type { LaunchEvents, Launched, StartedProcess } from './launch/launch-plan.ts'
import { CapturedOutput } from './output/captured-output.ts'
import type { Runtime } from './runtime.ts'
import { startFailure } from './start-failure.ts'
import type { Tracked } from './tree/live-trees.ts'

/** One call of `spawn`, whatever came of it. */
export class Spawned implements SubprocessHandle {
  readonly stdin?: Writable
  readonly stdout?: Readable
  readonly stderr?: Readable
  readonly output: { readonly stdout?: OutputReader; readonly stderr?: OutputReader }
  readonly started: Promise<boolean>
  readonly done: Promise<ExitFacts>
  /** What is needed of the spec later; not the spec, which may hold megabytes of data. */
  readonly #asked: Pick<SpawnSpec, 'argv' | 'cwd' | 'graceMs' | 'signal'>
  readonly #runtime: Runtime
  readonly #channels: { readonly stdout: OutputChannel; readonly stderr: OutputChannel }
  #cookie = ''
  #know: (started: boolean) => void = nothing
  #resolve: (facts: ExitFacts) => void = nothing
  #reject: (error: SubprocessError) => void = nothing
  #pid: number | undefined
  #tracked: Tracked | undefined
  #feed: StdinFeed | undefined
  #forgetAbort: () => void = nothing
  /** While it is not known whether it starts. */
  #revoke: (() => void) | undefined
  #unwanted = false

  /** `env` is complete but for the cookie. */
  constructor(spec: SpawnSpec, env: Readonly<Record<string, string>>, runtime: Runtime) {
    this.#asked = { argv: [spec.argv[0]], cwd: spec.cwd, graceMs: spec.graceMs, ...(spec.signal !== undefined && { signal: spec.signal }) }
    this.#runtime = runtime
    this.#channels = { stdout: new OutputChannel(spec.stdout, runtime.channels), stderr: new OutputChannel(spec.stderr, runtime.channels) }
    this.started = new Promise((resolve) => {
      this.#know = resolve
    })
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // A caller that does not look at `done` is no fault of the host's.
    this.done.catch(nothing)
    const { stdout, stderr } = this.#channels
    const pipe = this.#start(spec, env)
    if (spec.stdin === 'pipe' && pipe !== undefined) this.stdin = pipe
    if (stdout.stream !== undefined) this.stdout = stdout.stream
    if (stderr.stream !== undefined) this.stderr = stderr.stream
    this.output = {
      ...(stdout.capture !== undefined && { stdout: new CapturedOutput(stdout.capture, runtime.aborts) }),
      ...(stderr.capture !== undefined && { stderr: new CapturedOutput(stderr.capture, runtime.aborts) }),
    }
  }

  get pid(): number | undefined {
    return this.#pid
  }

  terminate(): void {
    if (this.#tracked !== undefined) {
      this.#tracked.tree.terminate()
      this.#runtime.launcher.ping()
    } else if (this.#revoke !== undefined && !this.#unwanted) {
      this.#unwanted = true
      this.#revoke()
    }
  }

  async waitForExit(signal?: AbortSignal): Promise<boolean> {
    if (this.#revoke !== undefined && !(await this.#isKnown(signal))) return false
    return this.#tracked?.tree.waitForExit(signal) ?? true
  }

  async survivors(): Promise<number> {
    if (this.#revoke !== undefined) await this.started
    return this.#tracked?.tree.survivors() ?? 0
  }

  /** Gives back the host's end of the standard input. */
  #start(spec: SpawnSpec, env: Readonly<Record<string, string>>): Writable | undefined {
    if (this.#runtime.closing) return this.#refuse(new SubprocessError('RUNTIME_CLOSED', `cannot start ${spec.argv[0]}: the runtime is closing`))
    if (spec.signal?.aborted === true) return this.#refuse(this.#abortedBefore())
    const { stdout, stderr } = this.#channels
    const { runtime, graceMs } = { runtime: this.#runtime, graceMs: spec.graceMs }
    this.#cookie = runtime.nextCookie()
    runtime.channels.closing.flush()
    try {
      stdout.open()
      stderr.open()
      this.#feed = feedStdin(spec.stdin, `${this.#cookie}.in`, runtime.directory, runtime.channels.stock)
    } catch (cause) {
      this.#failed(cause)
      return undefined
    }
    const plan = {
      argv: spec.argv,
      ...(spec.argv0 !== undefined && { argv0: spec.argv0 }),
      cwd: spec.cwd,
      // First, so that it is near the beginning of what a scan reads.
      env: Object.assign(Object.create(null) as Record<string, string>, { [COOKIE_VARIABLE]: this.#cookie }, env),
      stdin: this.#feed.end,
      stdout: stdout.end,
      stderr: stderr.end,
    }
    return this.#follow(runtime.launcher.launch(plan, { cookie: this.#cookie, graceMs }, this.#events()))
  }

  #events(): LaunchEvents {
    return {
      started: (process) => this.#own(process, undefined),
      failed: (cause) => this.#failed(cause),
      revoked: () => this.#refuse(this.#abortedBefore()),
      exited: (facts) => this.#exited(facts),
      lost: () => void this.#lost(),
      fault: (error) => this.#fault(error),
    }
  }

  #follow(launched: Launched): Writable | undefined {
    if (launched.state === 'failed') return undefined
    if (launched.state === 'started') this.#own(launched.process, launched)
    else this.#expect(launched.revoke)
    const { signal } = this.#asked
    if (signal !== undefined) this.#forgetAbort = this.#runtime.aborts.on(signal, () => this.terminate())
    return this.#feed?.stream ?? (launched.state === 'started' ? launched.stdin : undefined)
  }

  #expect(revoke: () => void): void {
    this.#revoke = revoke
    this.#runtime.starting.add(this)
    this.#channels.stdout.promise(this.#runtime.open)
    this.#channels.stderr.promise(this.#runtime.open)
  }

  /** `pipes` are the host's ends of them. Without these somebody else has launched it, and the names of FIFOs are gone. */
  #own(process: StartedProcess, pipes: Pipes | undefined): void {
    const { stdout, stderr } = this.#channels
    this.#pid = process.pid
    stdout.attach(pipes?.stdout, this.#runtime.open, pipes !== undefined)
    stderr.attach(pipes?.stderr, this.#runtime.open, pipes !== undefined)
    this.#feed?.started(pipes?.stdin)
    const { graceMs, argv } = this.#asked
    this.#tracked = this.#runtime.live.own(
      { ...process, cookie: this.#cookie, graceMs, program: argv[0] },
      { left: () => this.#forgetAbort(), gone: () => this.#vanish(), leaderGone: () => this.#exited(LOST) },
    )
    const { tree } = this.#tracked
    for (const { capture } of [stdout, stderr]) {
      if (capture === undefined) continue
      capture.onWaiting = (waiting) => tree.follow(waiting)
      // Since before the start.
      if (capture.waiting) tree.follow(true)
    }
    this.#settleStart(true)
    if (this.#unwanted) tree.terminate()
  }

  #failed(cause: unknown): void {
    this.#refuse(startFailure(this.#asked, cause))
  }

  #exited(facts: ExitFacts): void {
    this.#tracked?.tree.leaderEnded()
    const { stdout, stderr } = this.#channels
    const settling = [stdout.settle(), stderr.settle()].filter((pending) => pending !== undefined)
    this.#feed?.exited()
    if (settling.length === 0) this.#resolve(facts)
    else void this.#settleLater(settling, facts)
    if (this.#tracked !== undefined) this.#runtime.live.settled(this.#tracked)
  }

  /** Whoever launched it is gone, perhaps in the middle of the start: then its cookie tells whether it runs. */
  async #lost(): Promise<void> {
    let isUnsettled = true
    for (let looks = 0; isUnsettled && looks < LOOKS_FOR_LOST && this.#tracked === undefined; looks++) {
      const { index } = await this.#runtime.watch.look()
      // Between fork and exec it has no cookie yet.
      isUnsettled = index === undefined || index.unsettled
      const bearers = index?.byCookie.get(this.#cookie)?.filter(({ zombie }) => !zombie) ?? []
      const leader = bearers.find(({ pid, session }) => pid === session)
      // Of one that has ended, those it has left in its session hold the number.
      if (leader !== undefined) this.#own({ pid: leader.pid, start: leader.start }, undefined)
      else if (bearers[0] !== undefined) this.#own({ pid: bearers[0].session }, undefined)
    }
    if (this.#tracked !== undefined) {
      this.#tracked.tree.orphan()
      return
    }
    this.#channels.stdout.attach(undefined, this.#runtime.open, true)
    this.#channels.stderr.attach(undefined, this.#runtime.open, true)
    this.#feed?.started(undefined)
    this.#settleStart(true)
    this.#exited(LOST)
    this.#vanish()
  }

  #fault(error: Error): void {
    this.#runtime.warnings.log.warn({ err: error, pid: this.pid }, 'an error of a running process; its exit facts are unaffected')
  }

  /** False when `signal` aborts first. */
  async #isKnown(signal: AbortSignal | undefined): Promise<boolean> {
    if (signal === undefined) return this.started.then(() => true)
    if (signal.aborted) return false
    let forget = nothing
    const aborted = new Promise<boolean>((resolve) => {
      forget = this.#runtime.aborts.on(signal, () => resolve(false))
    })
    const known = await Promise.race([aborted, this.started.then(() => true)])
    forget()
    return known
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

  #settleStart(started: boolean): void {
    this.#revoke = undefined
    this.#runtime.starting.delete(this)
    this.#know(started)
  }

  #vanish(): void {
    this.#forgetAbort()
    this.#channels.stdout.abandoned()
    this.#channels.stderr.abandoned()
  }

  #abortedBefore(): SubprocessError {
    const { signal, argv } = this.#asked
    const cause: unknown = signal?.aborted === true ? signal.reason : undefined
    const why = signal?.aborted === true ? 'its signal had aborted before' : 'it was ended before'
    return new SubprocessError('ABORTED_BEFORE_SPAWN', `${argv[0]} was not started: ${why}`, cause === undefined ? {} : { cause })
  }

  /** Nothing was started. */
  #refuse(error: SubprocessError): undefined {
    this.#channels.stdout.cancel()
    this.#channels.stderr.cancel()
    this.#feed?.cancel()
    this.#forgetAbort()
    this.#settleStart(false)
    this.#reject(error)
  }
}

type Pipes = Pick<Extract<Launched, { state: 'started' }>, 'stdin' | 'stdout' | 'stderr'>

/** At intervals of 15 ms at least: whoever is forked executes its program meanwhile, wherever anything runs at all. */
const LOOKS_FOR_LOST = 20

const LOST: ExitFacts = { exitCode: null, signal: null, lost: true }

function nothing(): void {}
