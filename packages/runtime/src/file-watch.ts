import { type FSWatcher, watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import path from 'node:path'

export interface FileWatchOptions {
  /** Called with the paths whose content may have changed, once per burst. */
  readonly changed: (files: ReadonlySet<string>) => void
  /** A folder cannot be watched: it is gone, or the system has no watches left. */
  readonly failed: (folder: string, error: Error) => void
  /** Quiet time after which a burst counts as over, in milliseconds. */
  readonly quietMs: number
}

/**
 * Follows files by watching their folders: an editor that writes a new file and renames it over the old one leaves a watch on the
 * file itself with nothing. An event is only a reason to look; what counts is whether the file is another than it was.
 */
export class FileWatch {
  readonly #options: FileWatchOptions
  readonly #folders = new Map<string, FSWatcher>()
  #stamps = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: FileWatchOptions) {
    this.#options = options
  }

  /**
   * Follows exactly these files from now on. `since`: when they were read, epoch milliseconds; what was written later counts as
   * changed, so that nothing falls between reading and following.
   */
  async follow(files: readonly string[], since: number): Promise<void> {
    const folders = new Set(files.map((file) => path.dirname(file)))
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#folders.delete(folder)
    }
    for (const folder of folders) this.#open(folder)
    const stamps = await Promise.all(files.map(async (file) => [file, await stampOf(file, since)] as const))
    if (this.#closed) return
    this.#stamps = new Map(stamps.map(([file, stamp]) => [file, this.#stamps.get(file) ?? stamp]))
    this.#schedule()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  #open(folder: string): void {
    if (this.#folders.has(folder) || this.#closed) return
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#schedule())
      watcher.on('error', (error) => {
        watcher.close()
        this.#folders.delete(folder)
        this.#options.failed(folder, error)
      })
      this.#folders.set(folder, watcher)
    } catch (error) {
      this.#options.failed(folder, error as Error)
    }
  }

  #schedule(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.#look(), this.#options.quietMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const known = this.#stamps
    const now = await Promise.all([...known].map(async ([file]) => [file, await stampOf(file)] as const))
    if (this.#closed || known !== this.#stamps) return
    const changed = new Set(now.filter(([file, stamp]) => known.get(file) !== stamp).map(([file]) => file))
    this.#stamps = new Map(now)
    if (changed.size > 0) this.#options.changed(changed)
  }
}

/** File systems stamp with a clock that ticks every few milliseconds. */
const CLOCK_LAG_MS = 50

/** Another for another content, as far as a file system tells: a second write within one tick of its clock changes the size or nothing. */
async function stampOf(file: string, since?: number): Promise<string> {
  const stats = await stat(file).catch(() => undefined)
  if (stats === undefined) return 'missing'
  return since !== undefined && stats.mtimeMs >= since - CLOCK_LAG_MS
    ? 'written while it was read'
    : `${stats.ino} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.size}`
}
