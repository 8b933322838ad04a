import { type FSWatcher, realpathSync, statSync, watch } from 'node:fs'
import path from 'node:path'
import { setTimeout as startTimer } from 'node:timers'
import { setTimeout } from 'node:timers/promises'
import { fingerprintOf, type SourceFiles, stillHold } from './source-files.ts'

export interface FileWatchOptions {
  /** Called when files hold something else than they did, once per burst. */
  readonly changed: () => void
  /** A folder cannot be watched: it is gone, or the system has no watches left. */
  readonly failed: (folder: string, error: Error) => void
  /** Quiet time after which a burst counts as over, in milliseconds. */
  readonly quietMs: number
}

interface OpenFolder {
  readonly watcher: FSWatcher
  readonly inode: number
}

/**
 * Follows files by watching their folders: an editor that writes a new file and renames it over the old one leaves a watch on the
 * file itself with nothing. The same happens to folders, so each look makes sure that the watched ones are those that are there now;
 * for one that is not, its nearest ancestor is watched. An event is only a reason to look; what counts is what the files hold.
 */
export class FileWatch {
  readonly #options: FileWatchOptions
  readonly #folders = new Map<string, OpenFolder>()
  /** Told once, until they can be watched again. */
  readonly #unwatchable = new Set<string>()
  #files: SourceFiles = new Map()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: FileWatchOptions) {
    this.#options = options
  }

  /** Follows exactly these files from now on. What has changed since they were read is found as well. */
  follow(files: SourceFiles): void {
    if (this.#closed) return
    this.#files = files
    this.#watchFolders()
    this.#schedule()
  }

  /** As `follow`, for files that were read in passing: a change that is still to be told stays so, and one that was told is no news. */
  include(files: SourceFiles): void {
    // Or edits in quick succession would put off every look.
    if (files.size === this.#files.size && [...files.keys()].every((file) => this.#files.has(file))) return
    this.follow(new Map([...files].map(([file, print]) => [file, this.#files.get(file) ?? print])))
  }

  /** Whether the files still hold what was read, after four times the quiet time; if not, `changed` is called for that as well. */
  async lasts(): Promise<boolean> {
    const known = this.#files
    await setTimeout(4 * this.#options.quietMs, undefined, { ref: false })
    const same = await stillHold(known)
    if (!same) this.#schedule()
    return same
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const { watcher } of this.#folders.values()) watcher.close()
    this.#folders.clear()
  }

  /** True if there is a folder that was not watched before: something may have happened in it unseen. */
  #watchFolders(): boolean {
    const wanted = new Map([...this.#files.keys()].flatMap(foldersOf).map(nearestFolder))
    for (const [folder, { watcher, inode }] of this.#folders) {
      if (wanted.get(folder) === inode) continue
      watcher.close()
      this.#folders.delete(folder)
    }
    const anew = [...wanted].filter(([folder]) => !this.#folders.has(folder)).map(([folder, inode]) => this.#open(folder, inode))
    return anew.includes(true)
  }

  #open(folder: string, inode: number): boolean {
    const failed = (error: Error): false => {
      if (!this.#unwatchable.has(folder)) this.#options.failed(folder, error)
      this.#unwatchable.add(folder)
      return false
    }
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#schedule())
      watcher.on('error', (error) => {
        watcher.close()
        if (this.#folders.get(folder)?.watcher === watcher) this.#folders.delete(folder)
        failed(error)
      })
      this.#folders.set(folder, { watcher, inode })
      this.#unwatchable.delete(folder)
      return true
    } catch (error) {
      return failed(error as Error)
    }
  }

  #schedule(): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = startTimer(() => void this.#look(), this.#options.quietMs)
    this.#timer.unref()
  }

  async #look(): Promise<void> {
    if (this.#watchFolders()) this.#schedule()
    const known = this.#files
    const now = new Map(await Promise.all([...known.keys()].map(async (file) => [file, await fingerprintOf(file)] as const)))
    // Followed anew meanwhile: that has asked for a look of its own.
    if (this.#closed || known !== this.#files) return
    if ([...now].every(([file, print]) => known.get(file) === print)) return
    this.#files = now
    this.#options.changed()
  }
}

/** Where the name of a file is, and where the file is that a link leads to. */
function foldersOf(file: string): readonly string[] {
  try {
    return [path.dirname(file), path.dirname(realpathSync.native(file))]
  } catch {
    return [path.dirname(file)]
  }
}

function nearestFolder(folder: string): readonly [folder: string, inode: number] {
  const stats = statSync(folder, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true || folder === path.dirname(folder)) return [folder, stats?.ino ?? 0]
  return nearestFolder(path.dirname(folder))
}
