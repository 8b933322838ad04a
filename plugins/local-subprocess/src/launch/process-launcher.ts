import type { ChildProcess } from 'node:child_process'
import { unlinkSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { ExitFacts } from '@tenon/subprocess'
import type { PrivateDirectory } from '../channel/private-directory.ts'
import type { Clock } from '../clock.ts'
import type { Warnings } from '../warnings.ts'
import type { LaunchEvents, Launched, Launcher, LaunchPlan, LaunchTerms } from './launch-plan.ts'
import { LauncherConnection, type StartLauncher, type Unbegun } from './launcher-connection.ts'
import { type Commission, PROTOCOL_VERSION } from './messages.ts'
import { Reception } from './reception.ts'

/** A process that has not greeted by then is not going to. */
const GREETING_MS = 10_000

/** So many ends within so long are a loop. */
const LOOP_ENDS = 3
const LOOP_MS = 30_000

/** A launcher that was told to go takes milliseconds. */
const DISMISSAL_MS = 2_000

export interface ProcessLauncherParts {
  readonly host: Launcher
  readonly start: StartLauncher
  readonly directory: PrivateDirectory
  readonly clock: Clock
  readonly warnings: Warnings
  /** Unclaimed FIFO names go with the start, so that a name can decide who begins it. */
  readonly claims: boolean
  readonly commission: Pick<Commission, 'nonce' | 'cookieVariable' | 'killWaitMs'>
  randomName(): string
  /** A launcher is there from now on. */
  ready(): void
}

/**
 * Launches through a process beside the host, and through the host itself for as long as there is none, and for what only the host can
 * hand over.
 */
export class ProcessLauncher implements Launcher {
  readonly #parts: ProcessLauncherParts
  #enabled = false
  #connection: LauncherConnection | undefined
  #connecting: Promise<void> | undefined
  #process: ChildProcess | undefined
  #reception: Reception | undefined
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
    if (enabled) this.#connect()
  }

  launch(plan: LaunchPlan, terms: LaunchTerms, events: LaunchEvents): Launched {
    const connection = this.#enabled ? this.#connection : undefined
    return (connection === undefined || needsHost(plan) ? this.#parts.host : connection).launch(plan, terms, events)
  }

  /** Runs a program of the system to its end, with no output; undefined if there is no launcher. */
  run(argv: readonly [string, ...string[]], env: Readonly<Record<string, string>>): Promise<void> | undefined {
    if (!this.#enabled || this.#connection === undefined) return undefined
    const nothing = { kind: 'null' } as const
    const plan = { argv, cwd: '/', env, stdin: nothing, stdout: nothing, stderr: nothing }
    return new Promise((resolve, reject) => {
      const fail = (cause: unknown): void => reject(cause instanceof Error ? cause : new Error(String(cause)))
      const exited = ({ exitCode }: ExitFacts): void => (exitCode === 0 ? resolve() : fail(`${argv[0]} ended with ${exitCode}`))
      this.launch(
        plan,
        { cookie: '', graceMs: 1_000 },
        {
          started: () => undefined,
          fault: () => undefined,
          failed: fail,
          revoked: () => fail(`${argv[0]} was called off`),
          lost: () => fail('the launcher was lost'),
          exited,
        },
      )
    })
  }

  /** A launcher that hangs is to be found out. */
  ping(): void {
    this.#connection?.ping()
  }

  directoryMade(path: string): void {
    this.#connection?.directoryMade(path)
  }

  /** Every tree has been ended. Resolves when the process is gone. */
  async close(): Promise<void> {
    this.#closed = true
    const connecting = this.#connecting
    this.#reception?.close()
    if (this.#connection === undefined) this.#process?.kill('SIGKILL')
    await connecting
    await this.#connection?.dismiss(DISMISSAL_MS)
    this.#connection = undefined
  }

  #connect(): void {
    if (this.#connection !== undefined || this.#closed) return
    this.#connecting ??= this.#greet()
      .catch((error: unknown) => {
        if (!this.#closed)
          this.#parts.warnings.once('launcher', { err: error }, 'cannot start the launcher process; commands are started by the host itself')
      })
      .finally(() => {
        this.#connecting = undefined
      })
  }

  async #greet(): Promise<void> {
    const { directory, start, randomName, commission, clock, claims, ready } = this.#parts
    // In a turn of its own: making the process blocks, and an activation is under way.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#closed) return
    const folder = directory.path()
    const token = randomName()
    const path = join(folder, `${this.#counter++}.sock`)
    const reception = await Reception.open(path, token)
    this.#reception = reception
    try {
      const child = start(folder)
      this.#process = child
      const guest = Promise.race([reception.guest, failureOf(child), this.#tooLate()])
      const { stdin } = child
      stdin?.on('error', () => undefined)
      child.unref()
      const told: Commission = { ...commission, version: PROTOCOL_VERSION, socket: basename(path), token, directories: directory.made }
      stdin?.end(JSON.stringify(told))
      const { socket, reader } = await guest
      if (this.#closed) {
        child.kill('SIGKILL')
        return
      }
      this.#connection = new LauncherConnection(socket, reader, child, { clock, claims }, (unbegun) => this.#ended(unbegun))
      // What was made meanwhile.
      for (const made of directory.made) this.#connection.directoryMade(made)
      ready()
    } catch (error) {
      this.#process?.kill('SIGKILL')
      throw error
    } finally {
      reception.close()
    }
  }

  #tooLate(): Promise<never> {
    return new Promise((_, reject) => {
      this.#parts.clock.after(GREETING_MS, () => reject(new Error(`no greeting within ${GREETING_MS} ms`))).hold(false)
    })
  }

  #ended(unbegun: readonly Unbegun[]): void {
    const { clock, warnings } = this.#parts
    this.#connection = undefined
    const now = clock.now()
    this.#endedAt = [...this.#endedAt.filter((at) => now - at < LOOP_MS), now]
    const isLoop = this.#endedAt.length >= LOOP_ENDS
    if (isLoop) this.#enabled = false
    warnings.log.warn(
      { ends: this.#endedAt.length },
      `the launcher process ended; what it had started lives on without an exit status, and ${isLoop ? 'the host itself starts commands until the row is reloaded' : 'another launcher is started'}`,
    )
    for (const each of unbegun) this.#again(each)
    if (this.#enabled) this.#connect()
  }

  #again({ plan, terms, events, redirect }: Unbegun): void {
    const launched = this.launch(plan, terms, events)
    if (launched.state === 'starting') redirect(launched.revoke)
    if (launched.state !== 'started') return
    for (const end of [plan.stdout, plan.stderr]) if (end.kind === 'fifo') discard(end.path)
    events.started(launched.process)
  }
}

/** A descriptor of the host cannot be handed over, and Node makes pipes for its own children only. */
function needsHost({ stdin, stdout, stderr }: LaunchPlan): boolean {
  return [stdin, stdout, stderr].some(({ kind }) => kind === 'pipe') || [stdout, stderr].some(({ kind }) => kind === 'inherit')
}

function failureOf(child: ChildProcess): Promise<never> {
  return new Promise((_, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => reject(new Error(`the launcher process ended with ${signal ?? code} before it had greeted`)))
  })
}

function discard(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The launcher that began it was faster.
  }
}
