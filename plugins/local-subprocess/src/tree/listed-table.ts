import type { ProcessEntry, ProcessTable, Snapshot } from './process-table.ts'

/** A program that lists all processes, and what its output means. */
export interface ProcessLister {
  readonly file: string
  readonly args: readonly string[]
  /** Lines that cannot be read are left out. */
  parse(output: string): ProcessEntry[]
  /** Now, in the unit of the listed starts. */
  now(): number
}

/** How long a listing vouches for a process: nothing on these systems tells at once whether one is still the same. */
const FRESH_MS = 250

/** The process table where there is no /proc. Environments cannot be read there, so nobody has a cookie. */
export class ListedTable implements ProcessTable {
  readonly #lister: ProcessLister
  readonly #run: (file: string, args: readonly string[]) => Promise<string>
  readonly #runSync: (file: string, args: readonly string[]) => string
  readonly #nowMs: () => number
  #last: ReadonlyMap<number, ProcessEntry> = new Map()
  #lastAtMs = Number.NEGATIVE_INFINITY

  constructor(
    lister: ProcessLister,
    run: (file: string, args: readonly string[]) => Promise<string>,
    runSync: (file: string, args: readonly string[]) => string,
    nowMs: () => number,
  ) {
    this.#lister = lister
    this.#run = run
    this.#runSync = runSync
    this.#nowMs = nowMs
  }

  now(): number {
    return this.#lister.now()
  }

  async snapshot(): Promise<Snapshot | undefined> {
    try {
      return this.#take(await this.#run(this.#lister.file, this.#lister.args))
    } catch {
      return undefined
    }
  }

  snapshotSync(): Snapshot | undefined {
    try {
      return this.#take(this.#runSync(this.#lister.file, this.#lister.args))
    } catch {
      return undefined
    }
  }

  confirm(entry: Pick<ProcessEntry, 'pid' | 'start'>): boolean {
    return this.#nowMs() - this.#lastAtMs <= FRESH_MS && this.#last.get(entry.pid)?.start === entry.start
  }

  #take(output: string): Snapshot | undefined {
    const listed = this.#lister.parse(output)
    // Not even the lister itself: its output was not understood.
    if (listed.length === 0) return undefined
    const entries = new Map(listed.map((entry) => [entry.pid, entry]))
    this.#last = entries
    this.#lastAtMs = this.#nowMs()
    return { entries, cookie: () => undefined, unsettled: false }
  }
}

/** POSIX `ps`, with the start time that macOS and the BSDs add; one second is its resolution. */
export function posixLister(nowMs: () => number): ProcessLister {
  return {
    file: 'ps',
    // One -o for each: what follows an equals sign is all of it the heading.
    args: ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart='],
    now: () => Math.floor(nowMs() / 1_000),
    parse: (output) =>
      output.split('\n').flatMap((line) => {
        const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line)
        if (match === null) return []
        const [pid, parent, group] = match.slice(1, 4).map(Number)
        const start = Date.parse(match[5] ?? '') / 1_000
        if (pid === undefined || parent === undefined || group === undefined || Number.isNaN(start)) return []
        return [{ pid, parent, group, session: 0, start, zombie: match[4]?.startsWith('Z') === true }]
      }),
  }
}

/** The processes of Windows with the time of their creation in milliseconds. */
export function windowsLister(nowMs: () => number): ProcessLister {
  const line = '"$($_.ProcessId) $($_.ParentProcessId) $(([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds())"'
  return {
    file: 'powershell.exe',
    args: ['-NoProfile', '-NonInteractive', '-Command', `Get-CimInstance Win32_Process | Where-Object CreationDate | ForEach-Object { ${line} }`],
    now: nowMs,
    parse: (output) =>
      output.split(/\r?\n/).flatMap((each) => {
        const match = /^\s*(\d+) (\d+) (\d+)\s*$/.exec(each)
        if (match === null) return []
        const [pid = 0, parent = 0, start = 0] = match.slice(1).map(Number)
        return [{ pid, parent, group: -1, session: -1, start, zombie: false }]
      }),
  }
}
