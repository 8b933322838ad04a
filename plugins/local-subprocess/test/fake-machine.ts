import { AbortHub } from '@tenon/abort-hub'
import type { Clock, Timer } from '../src/clock.ts'
import type { TreeParts } from '../src/tree/owned-tree.ts'
import type { SendSignal } from '../src/tree/posix-tree.ts'
import { ProcessIndex } from '../src/tree/process-index.ts'
import type { ProcessEntry, ProcessTable, Snapshot } from '../src/tree/process-table.ts'
import { Watch } from '../src/tree/watch.ts'

export interface FakeProcess {
  readonly pid: number
  parent?: number
  group?: number
  session?: number
  start?: number
  zombie?: boolean
  cookie?: string
  /** Signals it does not die of. */
  ignores?: readonly string[]
  /** Others of its user's: signals are refused. */
  foreign?: boolean
}

/** Moves only when told. */
export class FakeClock implements Clock {
  #now = 0
  #timers: { at: number; call: () => void; holds: boolean }[] = []

  now(): number {
    return this.#now
  }

  get timers(): number {
    return this.#timers.length
  }

  get holding(): number {
    return this.#timers.filter((timer) => timer.holds).length
  }

  after(delayMs: number, call: () => void): Timer {
    const timer = { at: this.#now + delayMs, call, holds: true }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer)
      },
      hold: (host) => {
        timer.holds = host
      },
    }
  }

  /** Fires what is due, in order, and lets promises run between. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms
    for (;;) {
      await settle()
      const next = this.#timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((timer) => timer !== next)
      this.#now = Math.max(this.#now, next.at)
      next.call()
    }
    this.#now = until
    await settle()
  }
}

/** A process table, the signals sent to it, and a clock: a machine on which everything can be arranged. */
export class FakeMachine implements ProcessTable {
  static readonly host = 500
  readonly clock = new FakeClock()
  readonly processes = new Map<number, FakeProcess>()
  /** `signal pid`, in order; probes included. */
  readonly sent: string[] = []
  /** When each look at the table began. */
  readonly looks: number[] = []
  readable = true
  ticks = 1_000
  readonly aborts = new AbortHub()
  readonly watch = new Watch(this, this.clock, FakeMachine.host)
  readonly send: SendSignal = (pid, signal) => this.#send(pid, signal)

  constructor() {
    this.add({ pid: 1, parent: 0, group: 1, session: 1, start: 1 })
    this.add({ pid: 400, parent: 1, group: 400, session: 400, start: 2 })
    this.add({ pid: FakeMachine.host, parent: 400, group: FakeMachine.host, session: 400, start: 3 })
  }

  get parts(): TreeParts & { readonly send: SendSignal } {
    return { table: this, clock: this.clock, watch: this.watch, aborts: this.aborts, send: this.send }
  }

  add(...processes: FakeProcess[]): void {
    for (const process of processes) this.processes.set(process.pid, { ...process, start: process.start ?? this.ticks })
  }

  remove(...pids: number[]): void {
    for (const pid of pids) this.processes.delete(pid)
  }

  now(): number {
    return this.ticks
  }

  async snapshot(): Promise<Snapshot | undefined> {
    this.looks.push(this.clock.now())
    return this.snapshotSync()
  }

  snapshotSync(): Snapshot | undefined {
    if (!this.readable) return undefined
    const processes = new Map(this.processes)
    const entries = new Map([...processes.values()].map((process) => [process.pid, entryOf(process)]))
    return { entries, cookie: (entry) => processes.get(entry.pid)?.cookie, unsettled: false }
  }

  index(): ProcessIndex | undefined {
    const snapshot = this.snapshotSync()
    return snapshot && new ProcessIndex(snapshot, FakeMachine.host)
  }

  confirm(entry: ProcessEntry): boolean {
    const process = this.processes.get(entry.pid)
    return process !== undefined && process.start === entry.start && process.zombie !== true
  }

  #send(pid: number, signal: NodeJS.Signals | 0): void {
    this.sent.push(`${signal} ${pid}`)
    const targets = [...this.processes.values()].filter((process) => (pid < 0 ? entryOf(process).group === -pid : process.pid === pid))
    if (targets.length === 0) throw Object.assign(new Error('kill ESRCH'), { code: 'ESRCH' })
    if (targets.every((process) => process.foreign === true)) throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
    if (signal !== 'SIGTERM' && signal !== 'SIGKILL') return
    for (const process of targets) {
      if (process.foreign !== true && process.ignores?.includes(signal) !== true) this.remove(process.pid)
    }
  }
}

function entryOf(process: FakeProcess): ProcessEntry {
  const { pid, parent = 1, group = pid, session = group, start = 0, zombie = false } = process
  return { pid, parent, group, session, start, zombie }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
