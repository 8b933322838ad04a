import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { uptime } from 'node:os'
import { isOutOfDescriptors, SpareDescriptor } from '../spare-descriptor.ts'
import type { ProcessEntry, ProcessTable, Snapshot } from './process-table.ts'

/** USER_HZ: /proc counts in hundredths of a second on every architecture Node runs on (man 5 proc). */
const TICKS_PER_SECOND = 100

/** A slice of a scan: short beside the 5 ms that nothing may block the event loop. */
const SLICE_MS = 1

/** More than any `/proc/PID/stat`: 52 numbers and a name of at most 64 bytes. */
const STAT_BYTES = 2_048

/** From fork to exec, when a process has its parent's environment: a millisecond, or a while where more want to run than can. */
const EXEC_TICKS = 3 * TICKS_PER_SECOND

/** Parent of all kernel threads, which have no environment. */
const KTHREADD = 2

interface Seen {
  readonly start: number
  readonly cookie: string | undefined
  /** It is not going to change. */
  readonly isSettled: boolean
}

/** The process table in `/proc`. */
export class LinuxTable implements ProcessTable {
  readonly #root: string
  readonly #cookieName: Buffer
  /** What an outer runtime knows this process by, and whatever it forks until that executes a program. */
  readonly #ownCookie: string | undefined
  readonly #spare: Pick<SpareDescriptor, 'lend'>
  readonly #stat = Buffer.allocUnsafe(STAT_BYTES)
  /** Environments do not change and are dear to read. Holds processes of the last scan only. */
  #cookies = new Map<number, Seen>()

  /**
   * @param cookieVariable the variable that holds a process's cookie
   * @param spare what a process without a descriptor left reads the table with; held by whoever made it
   */
  constructor(cookieVariable: string, root = '/proc', spare: Pick<SpareDescriptor, 'lend'> = new SpareDescriptor()) {
    this.#cookieName = Buffer.from(`${cookieVariable}=`)
    this.#ownCookie = process.env[cookieVariable]
    this.#root = root
    this.#spare = spare
  }

  now(): number {
    return Math.floor(uptime() * TICKS_PER_SECOND)
  }

  async snapshot(): Promise<Snapshot | undefined> {
    const scan = new Scan(this.now() - EXEC_TICKS)
    try {
      // The second listing finds what was forked by a process that ended before its own turn came.
      for (let listing = 0; listing < 2; listing++) {
        const pids = (await this.#list()).filter((pid) => !scan.listed.has(pid))
        for (let index = 0; index < pids.length; ) {
          const until = performance.now() + SLICE_MS
          while (index < pids.length && performance.now() < until) this.#read(pids[index++] ?? 0, scan)
          if (index < pids.length) await new Promise((resolve) => setImmediate(resolve))
        }
      }
    } catch {
      return undefined
    }
    this.#cookies = scan.cookies
    return scan
  }

  snapshotSync(): Snapshot | undefined {
    const scan = new Scan(this.now() - EXEC_TICKS)
    try {
      for (const pid of this.#listSync()) this.#read(pid, scan)
    } catch {
      return undefined
    }
    return scan
  }

  confirm(entry: Pick<ProcessEntry, 'pid' | 'start'>): boolean {
    const current = this.read(entry.pid)
    return current !== undefined && current.start === entry.start && !current.zombie
  }

  /** One process, now. Undefined too where no descriptor is left to look with. */
  read(pid: number): ProcessEntry | undefined {
    try {
      return this.#entry(pid)
    } catch {
      return undefined
    }
  }

  async #list(): Promise<number[]> {
    try {
      return numeric(await readdir(this.#root))
    } catch (error) {
      if (!isOutOfDescriptors(error)) throw error
      return this.#listSync()
    }
  }

  #listSync(): number[] {
    return numeric(this.#spare.lend(() => readdirSync(this.#root)))
  }

  #entry(pid: number): ProcessEntry | undefined {
    const length = this.#readInto(`${this.#root}/${pid}/stat`, this.#stat)
    return length === undefined ? undefined : parseStat(pid, this.#stat.toString('latin1', 0, length))
  }

  #read(pid: number, scan: Scan): void {
    scan.listed.add(pid)
    const entry = this.#entry(pid)
    if (entry === undefined) return
    scan.entries.set(pid, entry)
    const seen = this.#cookies.get(pid)
    if (seen?.start === entry.start && seen.isSettled) {
      scan.cookies.set(pid, seen)
    } else if (!entry.zombie && entry.parent !== KTHREADD) {
      const environment = this.#readWhole(`${this.#root}/${pid}/environ`)
      if (environment === undefined) return
      const cookie = cookieIn(environment, this.#cookieName)
      const isSettled = (environment.length > 0 && cookie !== this.#ownCookie) || entry.start < scan.settledBefore
      if (!isSettled) scan.unsettled = true
      // Empty in the middle of an exec: not the last word, so not remembered.
      if (environment.length > 0) scan.cookies.set(pid, { start: entry.start, cookie, isSettled })
    }
  }

  #readWhole(path: string): Buffer | undefined {
    for (let size = 16_384; ; size *= 4) {
      const target = Buffer.allocUnsafe(size)
      const length = this.#readInto(path, target)
      if (length === undefined) return undefined
      if (length < size) return target.subarray(0, length)
    }
  }

  /** Undefined for what is not there. @throws EMFILE or ENFILE: that it could not be looked at says nothing of a process */
  #readInto(path: string, target: Buffer): number | undefined {
    try {
      return this.#spare.lend(() => readInto(path, target))
    } catch (error) {
      if (isOutOfDescriptors(error)) throw error
      return undefined
    }
  }
}

class Scan implements Snapshot {
  readonly settledBefore: number
  unsettled = false
  readonly entries = new Map<number, ProcessEntry>()
  readonly cookies = new Map<number, Seen>()
  readonly listed = new Set<number>()

  constructor(settledBefore: number) {
    this.settledBefore = settledBefore
  }

  cookie(entry: ProcessEntry): string | undefined {
    const seen = this.cookies.get(entry.pid)
    return seen?.start === entry.start ? seen.cookie : undefined
  }
}

/** man 5 proc, `/proc/pid/stat`. The name in parentheses may hold anything, parentheses too: fields count from the last one. */
export function parseStat(pid: number, text: string): ProcessEntry | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group, session] = fields
  const threads = Number(fields[17])
  const start = Number(fields[19])
  if (state === undefined || !Number.isFinite(start)) return undefined
  // A process whose first thread has ended lives on in the others, and shows as a zombie all the same.
  const zombie = (state === 'Z' && !(threads > 1)) || state === 'X'
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), start, zombie }
}

/** The value of a variable in a block of `NAME=value\0`; `name` ends with the equals sign. */
export function cookieIn(environment: Buffer, name: Buffer): string | undefined {
  let at = environment.indexOf(name)
  while (at > 0 && environment[at - 1] !== 0) at = environment.indexOf(name, at + 1)
  if (at === -1) return undefined
  const from = at + name.length
  const end = environment.indexOf(0, from)
  return environment.toString('latin1', from, end === -1 ? environment.length : end)
}

function numeric(names: readonly string[]): number[] {
  return names.filter((name) => name >= '1' && name < ':').map(Number)
}

function readInto(path: string, target: Buffer): number {
  const descriptor = openSync(path, 'r')
  try {
    return readSync(descriptor, target, 0, target.length, 0)
  } finally {
    closeSync(descriptor)
  }
}
