import { type FSWatcher, watch } from 'node:fs'
import path from 'node:path'
import { setTimeout as startTimer } from 'node:timers'
import { setTimeout } from 'node:timers/promises'
import { fingerprintOf, type SourceFiles } from './source-files.ts'

export interface FileWatchOptions {
  /** Called with the files that hold something else than they did, once per burst. */
  readonly changed: (files: ReadonlySet<string>) => void
  /** A folder cannot be watched: it is gone, or the system has no watches left. */
  readonly failed: (folder: string, error: Error) => void
  /** Quiet time after which a burst counts as over, in milliseconds. */
  readonly quietMs: number
}

/**
 * Follows files by watching their folders: an editor that writes a new file and renames it over the old one leaves a watch on the
 * file itself with nothing. An event is only a reason to look; what counts is what the files hold.
 */
export class FileWatch {
  readonly #options: FileWatchOptions
  readonly #folders = new Map<string, FSWatcher>()
  #files: SourceFiles = new Map()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: FileWatchOptions) {
    this.#options = options
  }

  /** Follows exactly these files from now on. What has changed since they were read is found as well. */
  follow(files: SourceFiles): void {
    if (this.#closed) return
    const folders = new Set([...files.keys()].map((file) => path.dirname(file)))
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#folders.delete(folder)
    }
    for (const folder of folders) this.#open(folder)
    this.#files = files
    this.#schedule()
  }

  /** Whether the files still hold what was read, after four times the quiet time; if not, `changed` is called for that as well. */
  async lasts(): Promise<boolean> {
    const known = this.#files
    await setTimeout(4 * this.#options.quietMs, undefined, { ref: false })
    if (this.#closed || known !== this.#files) return false
    const prints = await Promise.all([...known].map(async ([file, print]) => (await fingerprintOf(file)) === print))
    return known === this.#files && prints.every((same) => same)
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  #open(folder: string): void {
    if (this.#folders.has(folder)) return
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
    this.#timer = startTimer(() => void this.#look(), this.#options.quietMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    const known = this.#files
    const now = new Map(await Promise.all([...known.keys()].map(async (file) => [file, await fingerprintOf(file)] as const)))
    // Followed anew meanwhile: that has asked for a look of its own.
    if (this.#closed || known !== this.#files) return
    const changed = new Set([...now].filter(([file, print]) => known.get(file) !== print).map(([file]) => file))
    if (changed.size === 0) return
    this.#files = now
    this.#options.changed(changed)
  }
}
