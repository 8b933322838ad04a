/** What the platform says of one process. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** When it started, in the table's own unit. With the pid it identifies a process: pids are used again. */
  readonly start: number
  /** Dead and not reaped yet: counts as gone. */
  readonly zombie: boolean
}

/** All processes, read one after another: a moment that lasts a while. */
export interface Snapshot {
  readonly entries: ReadonlyMap<number, ProcessEntry>
  /** The cookie in the process's initial environment; undefined where it has none or cannot be read. */
  cookie(entry: ProcessEntry): string | undefined
  /** Somebody was forked so recently that its environment may still be its parent's: its program is yet to be executed. */
  readonly unsettled: boolean
}

export interface ProcessTable {
  /** Now, in the unit of `ProcessEntry.start`. */
  now(): number
  /** Takes turns with the event loop. Undefined when the table cannot be read. Never rejects. */
  snapshot(): Promise<Snapshot | undefined>
  /** For the end of the host, when nothing asynchronous runs any more. */
  snapshotSync(): Snapshot | undefined
  /** True if this very process is still there, as far as that can be told at once. */
  confirm(entry: Pick<ProcessEntry, 'pid' | 'start'>): boolean
}
