import { spawn } from 'node:child_process'
import { renameSync, unlinkSync } from 'node:fs'
import { AbortHub } from '../abort-hub.ts'
import { systemClock } from '../clock.ts'
import { endEscapees } from '../escapees.ts'
import { HostLauncher } from '../launch/host-launcher.ts'
import type { LaunchEvents, LaunchPlan, OutputEnd, StartedProcess } from '../launch/launch-plan.ts'
import { type Commission, type LauncherMessage, type SpawnMessage, toPlatformError } from '../launch/messages.ts'
import { runProgram, runProgramSync } from '../run-program.ts'
import { LinuxTable } from '../tree/linux-table.ts'
import { ListedTable, posixLister } from '../tree/listed-table.ts'
import { LiveTrees } from '../tree/live-trees.ts'
import { Watch } from '../tree/watch.ts'

/** All that was launched here, for as long as anything of it may be left. */
export class Children {
  readonly #commission: Commission
  readonly #say: (message: LauncherMessage) => void
  readonly #launcher = new HostLauncher(spawn, process.platform)
  readonly #linux: LinuxTable | undefined
  readonly #watch: Watch
  readonly #live: LiveTrees
  readonly #platform: ConstructorParameters<typeof LiveTrees>[0]
  #waiting: SpawnMessage[] = []
  #ending = false

  constructor(commission: Commission, say: (message: LauncherMessage) => void) {
    this.#commission = commission
    this.#say = say
    this.#linux = process.platform === 'linux' ? new LinuxTable(commission.cookieVariable) : undefined
    const table = this.#linux ?? new ListedTable(posixLister(Date.now), runProgram, runProgramSync, systemClock.now)
    this.#watch = new Watch(table, systemClock, process.pid)
    this.#platform = {
      platform: process.platform,
      table,
      clock: systemClock,
      watch: this.#watch,
      aborts: new AbortHub(),
      send: (target, signal) => void process.kill(target, signal),
      run: async (file, args) => void (await runProgram(file, args)),
      runSync: (file, args) => void runProgramSync(file, args),
    }
    this.#live = new LiveTrees(this.#platform)
  }

  /** One a turn, so that what is called off meanwhile is heard before its turn comes. */
  spawn(message: SpawnMessage): void {
    this.#waiting.push(message)
    if (this.#waiting.length === 1) setImmediate(() => this.#next())
  }

  revoke(id: number): void {
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
    const message = this.#waiting.shift()
    if (message === undefined || this.#ending) return
    this.#begin(message)
    if (this.#waiting.length > 0) setImmediate(() => this.#next())
  }

  #begin({ id, plan, claim, cookie, graceMs }: SpawnMessage): void {
    const claimed = claim === undefined ? undefined : claimPath(claim)
    const child = new Child(id, this.#say)
    const launched = this.#launcher.launch(claimed === undefined ? plan : renamed(plan, claimed), { cookie, graceMs }, child.events)
    if (claimed !== undefined) discard(claimed.to)
    if (launched.state !== 'started') return
    const { pid } = launched.process
    const start = this.#linux?.read(pid)?.start
    const started: StartedProcess = { pid, ...(start !== undefined && { start }) }
    const tracked = this.#live.own({ pid, cookie, graceMs, program: plan.argv[0] }, { left: nothing, gone: nothing, leaderGone: nothing })
    child.own(started, () => {
      tracked.tree.leaderEnded()
      this.#live.settled(tracked)
    })
  }
}

/** Tells the host what becomes of one launch. */
class Child {
  readonly #id: number
  readonly #say: (message: LauncherMessage) => void
  #ended: () => void = nothing

  constructor(id: number, say: (message: LauncherMessage) => void) {
    this.#id = id
    this.#say = say
  }

  get events(): LaunchEvents {
    const id = this.#id
    return {
      started: nothing,
      revoked: nothing,
      lost: nothing,
      failed: (cause) => this.#say({ type: 'failed', id, error: toPlatformError(cause) }),
      fault: (error) => this.#say({ type: 'fault', id, error: toPlatformError(error) }),
      exited: ({ exitCode, signal }) => {
        this.#say({ type: 'exited', id, exitCode, signal })
        this.#ended()
      },
    }
  }

  own({ pid, start }: StartedProcess, ended: () => void): void {
    this.#ended = ended
    this.#say({ type: 'started', id: this.#id, pid, ...(start !== undefined && { start }) })
  }
}

interface Renaming {
  readonly from: string
  readonly to: string
}

/**
 * Undefined where that cannot be done. If the name is gone, because the host has called the launch off or a cleaner came by, the launch
 * fails as the name is opened; on a file system that has become read-only the host cannot have called it off either.
 */
function claimPath(from: string): Renaming | undefined {
  const to = `${from}.claimed`
  try {
    renameSync(from, to)
    return { from, to }
  } catch {
    return undefined
  }
}

function renamed(plan: LaunchPlan, { from, to }: Renaming): LaunchPlan {
  const follow = (end: OutputEnd): OutputEnd => (end.kind === 'fifo' && end.path === from ? { kind: 'fifo', path: to } : end)
  return { ...plan, stdout: follow(plan.stdout), stderr: follow(plan.stderr) }
}

function discard(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // The whole directory is gone, or read-only by now.
  }
}

function nothing(): void {}
