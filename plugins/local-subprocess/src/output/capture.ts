import type { Collect } from '@tenon/subprocess'
import { Ring } from './ring.ts'
import { SpillFile } from './spill-file.ts'
import type { SpillShelf } from './spill-shelf.ts'

interface Waiter {
  readonly afterOffset: number
  readonly resolve: (changed: boolean) => void
}

/** What one collected stream delivered: the tail in memory and, in spill form, all of it in a file from the first overflow on. */
export class Capture {
  readonly maxBytes: number
  readonly #spillBytes: number | undefined
  readonly #shelf: SpillShelf
  readonly #ring: Ring
  #spill: SpillFile | undefined
  #released = false
  #finished = false
  #fault: string | undefined
  readonly #waiters = new Set<Waiter>()
  /** Told when reading may go on after `append` asked for a pause. */
  onRoom: () => void = () => undefined
  /** Told when somebody begins to wait, and when nobody waits any more. */
  onWaiting: (waiting: boolean) => void = () => undefined
  /** Told when nothing can come any more. */
  onEnd: () => void = () => undefined

  constructor(collect: Collect, shelf: SpillShelf) {
    this.maxBytes = collect.maxBytes
    this.#spillBytes = collect.spill?.maxBytes
    this.#shelf = shelf
    this.#ring = new Ring(collect.maxBytes)
  }

  get size(): number {
    return this.#ring.end
  }

  get earliest(): number {
    return this.#spill?.live === true ? 0 : Math.max(0, this.#ring.end - this.maxBytes)
  }

  get finished(): boolean {
    return this.#finished
  }

  /** Why the stream could not be read to its end. */
  get fault(): string | undefined {
    return this.#fault
  }

  get spillPath(): string | undefined {
    return this.#spill?.path
  }

  get waiting(): boolean {
    return this.#waiters.size > 0
  }

  /** Takes the bytes, which the caller may reuse afterwards. False when reading should pause. */
  append(chunk: Buffer): boolean {
    const size = this.#ring.end + chunk.length
    if (this.#spillBytes !== undefined && size > this.maxBytes && !this.#released) this.#overflow(chunk, size, this.#spillBytes)
    this.#ring.append(chunk)
    this.#spill?.flush()
    this.#wake()
    return !this.congested
  }

  /** More waits for the disk than should. */
  get congested(): boolean {
    return this.#spill?.congested === true
  }

  /** Resolves when everything so far is as safe as it will get. */
  flushed(): Promise<void> | undefined {
    return this.#spill?.written(this.#ring.end)
  }

  /** Nothing is expected to write any more. What comes nevertheless is taken. */
  finish(): void {
    if (this.#finished) return
    this.#finished = true
    this.#wake()
  }

  /** Nothing can come any more. */
  end(fault?: string): void {
    this.#fault ??= fault
    this.#ring.trim()
    this.#spill?.end()
    this.finish()
    this.onEnd()
  }

  release(): void {
    this.#released = true
    this.#spill?.withdraw()
  }

  /** The bytes of [from, to), both at or after `held`. Undefined if the file they were in turned out to be gone. */
  bytes(from: number, to: number): Buffer | undefined {
    const target = Buffer.allocUnsafe(to - from)
    const { start } = this.#ring
    if (from < start) {
      try {
        this.#spill?.copy(from, Math.min(to, start), target, 0)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        this.#spill?.withdraw()
        return undefined
      }
    }
    const first = Math.max(from, start)
    this.#ring.copy(first, to, target, first - from)
    return target
  }

  /** First offset that is held, a few bytes before `earliest` included. */
  get held(): number {
    return this.#spill?.live === true ? 0 : this.#ring.start
  }

  wait(afterOffset: number): { readonly changed: Promise<boolean>; readonly cancel: () => void } {
    let cancel = (): void => undefined
    const changed = new Promise<boolean>((resolve) => {
      const waiter = { afterOffset, resolve }
      this.#waiters.add(waiter)
      if (this.#waiters.size === 1) this.onWaiting(true)
      cancel = () => this.#dismiss(waiter, false)
    })
    return { changed, cancel }
  }

  #overflow(chunk: Buffer, size: number, cap: number): void {
    if (size > cap) {
      // Whatever the file holds is not the stream any more, and it will never be.
      this.release()
      return
    }
    this.#spill ??= new SpillFile(this.#ring, this.maxBytes, this.#shelf, () => this.onRoom())
    this.#spill.save(chunk)
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (this.#ring.end > waiter.afterOffset) this.#dismiss(waiter, true)
      else if (this.#finished) this.#dismiss(waiter, false)
    }
  }

  #dismiss(waiter: Waiter, changed: boolean): void {
    if (!this.#waiters.delete(waiter)) return
    waiter.resolve(changed)
    if (this.#waiters.size === 0) this.onWaiting(false)
  }
}
