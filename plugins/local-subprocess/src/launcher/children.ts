import { spawn } from 'node:child_process'
import { unlinkSync } from 'node:fs'
import { discard } from '../channel/discard.ts'
import { systemClock } from '../clock.ts'
import { endEscapees } from '../escapees.ts'
import { HostLauncher } from '../launch/host-launcher.ts'
import type { LaunchEvents, StartedProcess } from '../launch/launch-plan.ts'
import { type Commission, type LauncherMessage, type SpawnMessage, toPlatformError } from '../launch/messages.ts'
import type { StartLedger } from '../launch/start-ledger.ts'
import { runProgram, runProgramSync } from '../run-program.ts'
import { SpareDescriptor } from '../spare-descriptor.ts'
import { LinuxTable } from '../tree/linux-table.ts'
import { ListedTable, posixLister } from '../tree/listed-table.ts'
import { LiveTrees } from '../tree/live-trees.ts'
import { sendSignal } from '../tree/send-signal.ts'
import { Watch } from '../tree/watch.ts'

/**
 * Left alone, V8 lets 8 MiB of dead process handles pile up before it looks at what has grown old. To do that once in so many starts takes
 * 4 ms each time, and keeps the launcher's memory where it is.
 */
const STARTS_PER_COLLECTION = 500

/**
 * A start is told so much later, or with the end. To wake the host while a short command runs takes a processor from one of the two, and the
 * host then makes sockets for streams that are at their end when it first looks at them: a tenth of its time for each command.
 */
const TELL_MS = 2

/** All that was launched here, for as long as anything of it may be left. */
export class Children {
  readonly #commission: Commission
  readonly #ledger: Pick<StartLedger, 'write'>
  readonly #say: (message: LauncherMessage) => void
  readonly #launcher = new HostLauncher(spawn, process.platform)
  readonly #linux: LinuxTable | undefined
  readonly #watch: Watch
  readonly #live: LiveTrees
  readonly #platform: ConstructorParameters<typeof LiveTrees>[0]
  readonly #untold = new Map<number, Child>()
  #waiting: SpawnMessage[] = []
  #starts = 0
  #ending = false
  #isTurnDue = false

  constructor(commission: Commission, ledger: Pick<StartLedger, 'write'>, say: (message: LauncherMessage) => void) {
    this.#commission = commission
    this.#ledger = ledger
    this.#say = say
    // For as long as the launcher is there.
    const spare = new SpareDescriptor()
    spare.hold()
    this.#linux = process.platform === 'linux' ? new LinuxTable(commission.cookieVariable, '/proc', spare) : undefined
    const table = this.#linux ?? new ListedTable(posixLister(Date.now), runProgram, runProgramSync, systemClock.now)
    this.#watch = new Watch(table, systemClock, process.pid)
    this.#platform = {
      platform: process.platform,
      table,
      clock: systemClock,
      watch: this.#watch,
      aborts: { on: onAbort },
      send: sendSignal,
      run: async (file, args) => void (await runProgram(file, args)),
      runSync: (file, args) => void runProgramSync(file, args),
    }
    this.#live = new LiveTrees(this.#platform)
  }

  /** Begun by `flush`, so that what the host has said in the same breath is heard before. */
  spawn(message: SpawnMessage): void {
    this.#waiting.push(message)
  }

  /** One at once, the others one a turn: what is called off meanwhile is heard before its turn comes. */
  flush(): void {
    if (!this.#isTurnDue) this.#next()
  }

  revoke(id: number): void {
    // It is too late, and what the host does next needs the pid.
    this.#untold.get(id)?.tell()
    const index = this.#waiting.findIndex((message) => message.id === id)
    if (index === -1) return
    this.#waiting.splice(index, 1)
    this.#say({ type: 'revoked', id })
  }

  /** Ends every tree, and whatever else carries a cookie of the runtime. */
  async end(): Promise<void> {
    this.#ending = true
    this.#waiting = []
    const { nonce, killWaitMs } = this.#commission
    const { table, clock, send } = this.#platform
    await Promise.all([this.#live.end(killWaitMs), endEscapees({ nonce, trees: this.#live, watch: this.#watch, table, clock, send }, killWaitMs)])
  }

  #next(): void {
    this.#isTurnDue = false
    const message = this.#waiting.shift()
    if (message === undefined || this.#ending) return
    this.#isTurnDue = this.#waiting.length > 0
    if (this.#isTurnDue) setImmediate(() => this.#next())
    this.#begin(message)
    if (++this.#starts % STARTS_PER_COLLECTION === 0) globalThis.gc?.()
  }

  #begin({ id, plan, claim, cookie, graceMs }: SpawnMessage): void {
    const child = new Child(id, this.#say)
    const mayBegin = (): boolean => claim === undefined || isFree(claim)
    const launched = this.#launcher.launch(plan, { cookie, graceMs }, child.events, mayBegin)
    if (launched.state !== 'started') return
    const { pid } = launched.process
    // At once: the command may be about to kill whoever started it.
    this.#ledger.write(id, { pid })
    const start = this.#linux?.read(pid)?.start
    const tracked = this.#live.own({ pid, cookie, graceMs, program: plan.argv[0] }, { left: nothing, gone: nothing, leaderGone: nothing })
    const started = { pid, ...(start !== undefined && { start }) }
    this.#ledger.write(id, started)
    this.#untold.set(id, child)
    child.own(started, {
      told: () => this.#untold.delete(id),
      ended: () => {
        tracked.tree.leaderEnded()
        this.#live.settled(tracked)
      },
    })
    // Its input waits for whoever is told.
    if (plan.stdin.kind === 'fifo') child.tell()
    if (claim === undefined) return
    for (const end of [plan.stdin, plan.stdout, plan.stderr]) if (end.kind === 'fifo' && end.path !== claim) discard(end.path)
  }
}

/** Tells the host what becomes of one launch. */
class Child {
  readonly #id: number
  readonly #say: (message: LauncherMessage) => void
  #started: StartedProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #news: { told(): void; ended(): void } = { told: nothing, ended: nothing }

  constructor(id: number, say: (message: LauncherMessage) => void) {
    this.#id = id
    this.#say = say
  }

  get events(): LaunchEvents {
    const id = this.#id
    return {
      started: nothing,
      revoked: () => this.#say({ type: 'revoked', id }),
      lost: nothing,
      failed: (cause) => this.#say({ type: 'failed', id, error: toPlatformError(cause) }),
      fault: (error) => {
        this.tell()
        this.#say({ type: 'fault', id, error: toPlatformError(error) })
      },
      exited: ({ exitCode, signal }) => {
        const started = this.#untold()
        this.#say({ type: 'exited', id, ...(started !== undefined && { started }), exitCode, signal })
        this.#news.ended()
      },
    }
  }

  own(started: StartedProcess, news: { told(): void; ended(): void }): void {
    this.#news = news
    this.#started = started
    this.#timer = setTimeout(() => this.tell(), TELL_MS)
  }

  /** That it has started, if that has not been told. */
  tell(): void {
    const started = this.#untold()
    if (started !== undefined) this.#say({ type: 'started', id: this.#id, ...started })
  }

  #untold(): StartedProcess | undefined {
    const started = this.#started
    if (started === undefined) return undefined
    this.#started = undefined
    clearTimeout(this.#timer)
    this.#news.told()
    return started
  }
}

/**
 * Takes the name that decides. It is gone when the host has called the launch off. On a file system that has become read-only neither side
 * can take it, so the host cannot have.
 */
function isFree(claim: string): boolean {
  try {
    unlinkSync(claim)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Nobody here has many who follow one signal. */
function onAbort(signal: AbortSignal, follower: (reason: unknown) => void): () => void {
  const fire = (): void => follower(signal.reason)
  signal.addEventListener('abort', fire, { once: true })
  return () => signal.removeEventListener('abort', fire)
}

function nothing(): void {}
