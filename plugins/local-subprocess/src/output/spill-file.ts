import { LOOK_BACK_BYTES, type Ring } from './ring.ts'
import type { SpillFiles, SpillShelf } from './spill-shelf.ts'

/** What waits is kept in blocks of this size, which are used again. */
const BLOCK_BYTES = 262_144

/** What is worth a write at once, what may wait how long, and the blocks of one write at most: reading and writing should go on together. */
const WRITE_BYTES = 1_048_576
const GATHER_MS = 2
const BLOCKS_PER_WRITE = 8

/** Bytes that may wait for the disk outside the ring; beyond it the reading pauses and the child feels the back-pressure. */
export const QUEUE_BYTES = 4_194_304

/** Free space and the file's name are looked at once per so many bytes, or so much time: each look is two more trips to the thread pool. */
const INSPECT_EVERY_BYTES = 8_388_608
const INSPECT_EVERY_MS = 50

interface Block {
  readonly buffer: Buffer
  /** Offset in the stream, and so in the file. */
  readonly start: number
  length: number
  /** Handed to a write: nothing is added any more. */
  sealed: boolean
}

/** Thrown into the writing loop when the file went away from under it; the only end that is nobody's fault. */
class Vanished extends Error {}

/**
 * The complete stream in a private file, written behind the reader's back. What the ring still holds is taken from there; only what
 * would leave the ring before it is written waits in blocks. Ends as `withdrawn`, for good, at the first thing that keeps it from
 * being complete: its cap, a fault of the disk, the shelf's eviction, its owner's release.
 */
export class SpillFile {
  readonly #ring: Ring
  readonly #tailBytes: number
  readonly #shelf: SpillShelf
  readonly #files: SpillFiles
  /** Called when the queue has room again, and when the file is withdrawn. */
  readonly #onRoom: () => void
  #path: string | undefined
  #descriptor: number | undefined
  #withdrawn = false
  #running = false
  #closed = false
  /** No write will be asked for any more: the descriptor is closed as soon as everything is written. */
  #ended = false
  readonly #blocks: Block[] = []
  #spare: Buffer[] = []
  #queued = 0
  /** Bytes [0, taken) have left the ring for a block or the file; bytes [0, written) are in the file. */
  #taken = 0
  #written = 0
  /** Ends the wait for what may come along. */
  #hurry: () => void = nothing
  #inspectedBytes = 0
  #inspectedAtMs = 0
  #flushes: { readonly upTo: number; readonly resolve: () => void }[] = []

  constructor(ring: Ring, tailBytes: number, shelf: SpillShelf, onRoom: () => void) {
    this.#ring = ring
    this.#tailBytes = tailBytes
    this.#shelf = shelf
    this.#files = shelf.files
    this.#onRoom = onRoom
  }

  /** True while every byte of the stream can still be had. */
  get live(): boolean {
    return !this.#withdrawn
  }

  /** Published only while every byte so far is in it. */
  get path(): string | undefined {
    return !this.#withdrawn && this.#path !== undefined && this.#written === this.#ring.end ? this.#path : undefined
  }

  get congested(): boolean {
    return this.#queued > QUEUE_BYTES
  }

  get bytes(): number {
    return this.#written
  }

  /** Called before the ring takes `chunk`: saves what the ring is about to lose. */
  save(chunk: Buffer): void {
    if (this.#withdrawn) return
    const { end } = this.#ring
    const lostUntil = end + chunk.length - (this.#tailBytes + LOOK_BACK_BYTES)
    const fromRing = Math.min(lostUntil, end)
    if (fromRing > this.#taken)
      this.#enqueue(fromRing - this.#taken, (target, at, _done, count) => this.#ring.copy(this.#taken, this.#taken + count, target, at))
    if (lostUntil > end) this.#enqueue(lostUntil - end, (target, at, done, count) => chunk.copy(target, at, done, done + count))
  }

  /** Writes what there is, if it is not being written already. */
  flush(): void {
    if (this.#isPressing()) this.#hurry()
    if (this.#running || this.#withdrawn || this.#closed) return
    this.#running = true
    void this.#run()
  }

  /** Resolves when the bytes before `offset` are in the file, or the file is withdrawn. Undefined if that is so already. */
  written(offset: number): Promise<void> | undefined {
    if (this.#withdrawn || this.#written >= offset) return undefined
    return new Promise((resolve) => {
      this.#flushes.push({ upTo: offset, resolve })
      this.#hurry()
    })
  }

  end(): void {
    this.#ended = true
    this.flush()
  }

  /** Copies [from, to), which the ring does not hold any more. Throws what reading the file throws. */
  copy(from: number, to: number, target: Buffer, at: number): void {
    const inFile = Math.min(to, this.#written)
    if (from < inFile) {
      if (this.#path === undefined) throw new Vanished('the file is not there')
      this.#files.readSync(this.#path, from, target.subarray(at, at + inFile - from))
    }
    for (const block of this.#blocks) {
      const first = Math.max(from, inFile, block.start)
      const last = Math.min(to, block.start + block.length)
      if (first < last) block.buffer.copy(target, at + first - from, first - block.start, last - block.start)
    }
  }

  /** The path is withdrawn first, then the file deleted. Idempotent. */
  withdraw(): void {
    if (this.#withdrawn) return
    this.#withdrawn = true
    this.#shelf.remove(this)
    const path = this.#path
    this.#path = undefined
    this.#blocks.length = 0
    this.#spare = []
    this.#queued = 0
    if (path !== undefined) void this.#files.unlink(path).catch((error: unknown) => this.#shelf.fault('delete', error))
    if (!this.#running) void this.#close()
    this.#hurry()
    this.#settle()
    this.#onRoom()
  }

  #enqueue(bytes: number, fill: (target: Buffer, at: number, done: number, count: number) => void): void {
    for (let done = 0; done < bytes; ) {
      let block = this.#blocks.at(-1)
      if (block === undefined || block.sealed || block.length === BLOCK_BYTES) block = this.#newBlock()
      const count = Math.min(bytes - done, BLOCK_BYTES - block.length)
      fill(block.buffer, block.length, done, count)
      block.length += count
      this.#queued += count
      this.#taken += count
      done += count
    }
  }

  #newBlock(): Block {
    const block = { buffer: this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES), start: this.#taken, length: 0, sealed: false }
    this.#blocks.push(block)
    return block
  }

  /** The next bytes to write: what waits in blocks, else what the ring holds. */
  #next(): readonly Block[] {
    if (this.#blocks.length === 0 && this.#ring.end > this.#taken) {
      const count = Math.min(BLOCK_BYTES, this.#ring.end - this.#taken)
      this.#enqueue(count, (target, at) => this.#ring.copy(this.#taken, this.#taken + count, target, at))
    }
    const next = this.#blocks.slice(0, BLOCKS_PER_WRITE)
    for (const block of next) block.sealed = true
    return next
  }

  async #run(): Promise<void> {
    try {
      this.#descriptor ??= await this.#open()
      while (!this.#withdrawn) {
        await this.#gather()
        const blocks = this.#withdrawn ? [] : this.#next()
        if (blocks.length === 0) break
        await this.#write(this.#descriptor, blocks)
      }
    } catch (error) {
      if (!this.#withdrawn) {
        if (!(error instanceof Vanished)) this.#shelf.fault('write', error)
        this.withdraw()
      }
    }
    this.#running = false
    if (this.#withdrawn || this.#ended) await this.#close()
  }

  /** To hand over a few bytes costs as much as to hand over a megabyte, so a little time is given to what may come along. */
  async #gather(): Promise<void> {
    if (this.#isPressing()) return
    await new Promise<void>((resolve) => {
      const timer = this.#shelf.clock.after(GATHER_MS, resolve)
      timer.hold(false)
      this.#hurry = () => {
        timer.cancel()
        resolve()
      }
    })
    this.#hurry = nothing
  }

  #isPressing(): boolean {
    return this.#ended || this.#withdrawn || this.#flushes.length > 0 || this.#ring.end - this.#written >= WRITE_BYTES
  }

  async #open(): Promise<number> {
    this.#shelf.add(this)
    const { path, descriptor } = await this.#shelf.create()
    if (this.#withdrawn) await this.#files.unlink(path).catch((error: unknown) => this.#shelf.fault('delete', error))
    else this.#path = path
    return descriptor
  }

  async #write(descriptor: number, blocks: readonly Block[]): Promise<void> {
    let rest: readonly Buffer[] = blocks.map(({ buffer, length }) => buffer.subarray(0, length))
    while (rest.length > 0) {
      const count = await this.#files.write(descriptor, rest, this.#written)
      if (this.#withdrawn) return
      rest = without(rest, count)
      this.#written += count
      // Evicts the oldest, which may be this one.
      this.#shelf.grew(count)
      if (this.#withdrawn) return
    }
    const wasCongested = this.congested
    for (const { buffer, length } of this.#blocks.splice(0, blocks.length)) {
      this.#queued -= length
      if (this.#spare.length * BLOCK_BYTES < QUEUE_BYTES) this.#spare.push(buffer)
    }
    if (this.#isInspectionDue()) await this.#inspect(descriptor)
    this.#settle()
    if (wasCongested && !this.congested) this.#onRoom()
  }

  #isInspectionDue(): boolean {
    return this.#written - this.#inspectedBytes >= INSPECT_EVERY_BYTES || this.#shelf.clock.now() - this.#inspectedAtMs >= INSPECT_EVERY_MS
  }

  async #inspect(descriptor: number): Promise<void> {
    this.#inspectedBytes = this.#written
    this.#inspectedAtMs = this.#shelf.clock.now()
    if ((await this.#files.links(descriptor)) === 0) throw new Vanished('somebody deleted the file')
    await this.#shelf.assertRoom()
  }

  #settle(): void {
    const due = this.#flushes.filter((flush) => this.#withdrawn || flush.upTo <= this.#written)
    if (due.length === 0) return
    this.#flushes = this.#flushes.filter((flush) => !due.includes(flush))
    for (const { resolve } of due) resolve()
  }

  async #close(): Promise<void> {
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    this.#closed = true
    this.#spare = []
    if (descriptor === undefined) return
    await this.#files.close(descriptor).catch((error: unknown) => this.#shelf.fault('close', error))
  }
}

/** What is left of the buffers when their first `count` bytes are done with. */
function without(buffers: readonly Buffer[], count: number): readonly Buffer[] {
  let done = count
  let index = 0
  for (; index < buffers.length && done >= (buffers[index]?.length ?? 0); index++) done -= buffers[index]?.length ?? 0
  const [first, ...others] = buffers.slice(index)
  return first === undefined ? [] : [first.subarray(done), ...others]
}

function nothing(): void {}
