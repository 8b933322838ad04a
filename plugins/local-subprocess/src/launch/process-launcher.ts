import { discard } from '../channel/discard.ts'
import type { PrivateDirectory } from '../channel/private-directory.ts'
import type { Clock } from '../clock.ts'
import type { Warnings } from '../warnings.ts'
import type { DescriptorLimit } from './descriptor-limit.ts'
import type { LaunchEvents, Launched, Launcher, LaunchPlan, LaunchTerms } from './launch-plan.ts'
import { LauncherConnection, type Unbegun } from './launcher-connection.ts'
import { type Commission, PROTOCOL_VERSION } from './messages.ts'
import { type StartLauncher, type Welcomed, welcome } from './welcome.ts'

/** To make the process blocks, and takes a processor for a while: others are activated meanwhile, and the first command runs. */
const BOOT_MS = 50

/** A process that has not greeted by then is not going to. */
const GREETING_MS = 10_000

/** So many ends within so long are a loop. */
const LOOP_ENDS = 3
const LOOP_MS = 30_000

/** What the programs of the system have, should the host be gone while one runs. */
const PROGRAM_GRACE_MS = 1_000

/** A launcher that was told to go takes milliseconds. */
const DISMISSAL_MS = 2_000

export interface ProcessLauncherParts {
  readonly host: Launcher
  readonly start: StartLauncher
  /** Where its socket is. */
  directory(): PrivateDirectory
  /** All that it is to remove, should the host be gone. */
  directories(): readonly string[]
  readonly clock: Clock
  readonly warnings: Warnings
  /** Unclaimed FIFO names go with the start, so that a name can decide who begins it. */
  readonly claims: boolean
  readonly commission: Pick<Commission, 'host' | 'nonce' | 'cookieVariable' | 'killWaitMs'>
  /** What children are to have; undefined where it is known to be the launcher's own, and where it is not known. */
  readonly descriptorLimit: DescriptorLimit | undefined
  randomName(): string
  /** Whose rights the host has now. */
  user(): string
  /** A launcher is there from now on. */
  ready(): void
}

/**
 * Launches through a process beside the host, and through the host itself for as long as there is none, and for what only the host can
 * hand over.
 */
export class ProcessLauncher implements Launcher {
  readonly #parts: ProcessLauncherParts
  /** That of the launcher. */
  #user: string | undefined
  #enabled = false
  #connection: LauncherConnection | undefined
  #connecting: Promise<void> | undefined
  /** While one is awaited. */
  #patience: AbortController | undefined
  #endedAt: number[] = []
  #counter = 0
  #closed = false

  constructor(parts: ProcessLauncherParts) {
    this.#parts = parts
  }

  /** Pid of the launcher that is in use. */
  get pid(): number | undefined {
    return this.#connection?.pid
  }

  /** Resolves when a launcher is in use, or is not going to be. */
  async idle(): Promise<void> {
    await this.#connecting
  }

  /** Of every activation: a crash loop is forgiven by it. A launcher that is there stays, for what it has launched. */
  enable(enabled: boolean): void {
    this.#enabled = enabled
    this.#endedAt = []
    if (enabled) this.#connect(BOOT_MS)
  }

  launch(plan: LaunchPlan, terms: LaunchTerms, events: LaunchEvents): Launched {
    // A host that has laid down rights, or taken on others, does not mean those of its launcher.
    const connection = this.#enabled && this.#user === this.#parts.user() ? this.#connection : undefined
    return (connection === undefined || needsHost(plan) ? this.#parts.host : connection).launch(plan, terms, events)
  }

  /** Runs a program of the system to its end, with no output; undefined if there is no launcher. */
  run(argv: readonly [string, ...string[]], env: Readonly<Record<string, string>>): Promise<void> | undefined {
    if (!this.#enabled || this.#connection === undefined) return undefined
    const nothing = { kind: 'null' } as const
    const plan = { argv, cwd: '/', env, stdin: nothing, stdout: nothing, stderr: nothing }
    const terms = { cookie: `${this.#parts.commission.nonce}.${argv[0]}`, graceMs: PROGRAM_GRACE_MS }
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void => reject(cause instanceof Error ? cause : new Error(String(cause)))
      this.launch(plan, terms, {
        started: () => undefined,
        fault: () => undefined,
        failed: fail,
        revoked: () => fail(`${argv[0]} was called off`),
        lost: () => fail('the launcher was lost'),
        exited: ({ exitCode }) => (exitCode === 0 ? resolve() : fail(`${argv[0]} ended with ${exitCode}`)),
      })
    })
  }

  /** A launcher that hangs is to be found out. */
  ping(): void {
    this.#connection?.ping()
  }

  directoryMade(path: string): void {
    this.#connection?.directoryMade(path)
  }

  /** Resolves when the process is gone; if trees are left that the host could not end, it stays to end them, and is not waited for. */
  async close(allEnded: boolean): Promise<void> {
    this.#closed = true
    this.#patience?.abort(new Error('the runtime is closing'))
    await this.#connecting
    if (allEnded) await this.#connection?.dismiss(DISMISSAL_MS)
    else this.#connection?.leave()
    this.#connection = undefined
  }

  #connect(afterMs: number): void {
    if (this.#connection !== undefined || this.#closed) return
    const { warnings } = this.#parts
    const fallBack = (error: unknown): void => {
      if (this.#closed) return
      warnings.once('launcher', { err: error }, 'cannot start the launcher process; commands are started by the host itself')
    }
    this.#connecting ??= this.#meet(afterMs)
      .catch(fallBack)
      .finally(() => {
        this.#connecting = undefined
      })
  }

  async #meet(afterMs: number): Promise<void> {
    const { clock, claims, directory, directories, warnings, ready } = this.#parts
    const patience = new AbortController()
    this.#patience = patience
    await pause(clock, afterMs, patience.signal)
    if (this.#closed) return
    const late = clock.after(GREETING_MS, () => patience.abort(new Error(`no greeting within ${GREETING_MS} ms`)))
    late.hold(false)
    try {
      // A cleaner may have taken the one there was.
      directory().renew()
      const user = this.#parts.user()
      const welcomed = await this.#welcome(patience.signal)
      const { limitFault } = welcomed.greeting
      if (limitFault !== undefined)
        warnings.log.debug({ fault: limitFault }, 'cannot restore the limit of open descriptors; commands have that of the host')
      this.#user = user
      this.#connection = new LauncherConnection(welcomed, { clock, claims }, (unbegun, why) => this.#ended(unbegun, why))
      // It is dismissed, and nothing is made ahead for it.
      if (this.#closed) return
      // What was made meanwhile.
      for (const made of directories()) this.#connection.directoryMade(made)
      ready()
    } finally {
      late.cancel()
      this.#patience = undefined
    }
  }

  /** In another place, where something cannot be made in the first. */
  async #welcome(signal: AbortSignal): Promise<Welcomed> {
    const directory = this.#parts.directory()
    try {
      return await welcome(directory.path(), this.#parts, this.#commission(), signal)
    } catch (error) {
      if (signal.aborted || !directory.giveUp()) throw error
      return this.#welcome(signal)
    }
  }

  #commission(): Commission {
    const { commission, descriptorLimit, directories, randomName } = this.#parts
    return {
      ...commission,
      version: PROTOCOL_VERSION,
      socket: `${this.#counter}.sock`,
      ledger: `${this.#counter++}.starts`,
      token: randomName(),
      directories: directories(),
      ...(descriptorLimit !== undefined && { descriptorLimit }),
    }
  }

  #ended(unbegun: readonly Unbegun[], why: string | undefined): void {
    const { clock, warnings } = this.#parts
    this.#connection = undefined
    const now = clock.now()
    this.#endedAt = [...this.#endedAt.filter((at) => now - at < LOOP_MS), now]
    const isLoop = this.#endedAt.length >= LOOP_ENDS
    if (isLoop) this.#enabled = false
    warnings.log.warn(
      { ends: this.#endedAt.length, ...(why !== undefined && { why }) },
      `the launcher process ended; what it had started lives on without an exit status, and ${isLoop ? 'the host itself starts commands until the row is reloaded' : 'another launcher is started'}`,
    )
    for (const each of unbegun) this.#again(each)
    if (this.#enabled) this.#connect(0)
  }

  /** By the host: another launcher is not there yet. */
  #again({ plan, terms, events }: Unbegun): void {
    const launched = this.#parts.host.launch(plan, terms, events)
    for (const end of [plan.stdout, plan.stderr]) if (end.kind === 'fifo') discard(end.path)
    if (launched.state === 'started') events.started(launched.process)
  }
}

/** Keeps no host alive, and ends when `signal` aborts. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(ms, resolve)
    timer.hold(false)
    const end = (): void => {
      timer.cancel()
      resolve()
    }
    signal.addEventListener('abort', end, { once: true })
  })
}

/** A descriptor of the host cannot be handed over, and Node makes pipes for its own children only. */
function needsHost({ stdin, stdout, stderr }: LaunchPlan): boolean {
  return [stdin, stdout, stderr].some(({ kind }) => kind === 'pipe') || [stdout, stderr].some(({ kind }) => kind === 'inherit')
}
