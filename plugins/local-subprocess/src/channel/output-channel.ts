import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { OutputMode } from '@tenon/subprocess'
import type { OutputEnd } from '../launch/launch-plan.ts'
import { Capture } from '../output/capture.ts'
import type { SpillShelf } from '../output/spill-shelf.ts'
import { FifoSource, type Source } from './fifo-source.ts'
import type { Fifo, FifoStock } from './fifo-stock.ts'
import { PipeSource } from './pipe-source.ts'

export interface ChannelParts {
  readonly stock: FifoStock
  readonly shelf: SpillShelf
  /** Shared by all streams: what is read into it is copied before the next read. */
  readonly buffer: Buffer
  /** The name of a FIFO stays until its stream has ended. */
  readonly keepsNames: boolean
}

/** Something that lives until its end comes, or the runtime's. */
export interface Closable {
  close(): void
}

/**
 * One of the two outputs of a child, from before its launch until nothing can come any more: `open`, `attach` when a launch is under way,
 * `started` when the child holds its end; `cancel` at any point before that when nothing was started.
 */
export class OutputChannel implements Closable {
  /** Present for a collected stream. */
  readonly capture: Capture | undefined
  /** Present for a raw stream once it is attached. */
  stream: Readable | undefined
  readonly #mode: OutputMode
  readonly #parts: ChannelParts
  #fifo: Fifo | undefined
  /** Its read end is in use, and its name is there. */
  #attached: Fifo | undefined
  #source: Source | undefined

  constructor(mode: OutputMode, parts: ChannelParts) {
    this.#mode = mode
    this.#parts = parts
    this.capture = typeof mode === 'object' ? new Capture(mode, parts.shelf) : undefined
  }

  /** A raw stream is a FIFO too: Node throws away what nobody has begun to read from a pipe of its own when the child exits. @throws EMFILE, ENFILE */
  open(): void {
    if (this.#mode !== 'inherit') this.#fifo = this.#parts.stock.take()
  }

  get end(): OutputEnd {
    if (this.#mode === 'inherit') return { kind: 'inherit' }
    return this.#fifo === undefined ? { kind: 'pipe' } : { kind: 'fifo', path: this.#fifo.path }
  }

  /** Whoever launches holds the other end, or a child does. `pipe` is the host's end of a pipe. Stays in `open` until nothing can come any more. */
  attach(pipe: Readable | undefined, open: Set<Closable>): void {
    const { capture } = this
    if (capture === undefined) {
      this.stream = this.#useFifo((descriptor) => new Socket({ fd: descriptor, readable: true, writable: false })) ?? pipe
      if (this.stream === undefined) return
      open.add(this)
      this.stream.once('close', () => this.#ended(open))
      return
    }
    open.add(this)
    capture.onEnd = () => this.#ended(open)
    try {
      this.#source = this.#useFifo((descriptor) => new FifoSource(descriptor, this.#parts.buffer, capture))
      if (this.#source === undefined && pipe !== undefined) this.#source = new PipeSource(pipe, capture)
    } catch (error) {
      // The child may run: it is no start failure any more, but a stream that cannot be read.
      capture.end(error instanceof Error ? error.message : String(error))
    }
  }

  /** The child holds its end: a name that nobody needs any more goes. */
  started(): void {
    if (!this.#parts.keepsNames) this.#discard()
  }

  /** Nothing was started. */
  cancel(): void {
    if (this.#fifo !== undefined) this.#parts.stock.cancel(this.#fifo)
    this.#fifo = undefined
    this.close()
    this.capture?.end()
    this.#discard()
  }

  /** The leader has exited: takes what it left. Undefined if all of it is safe at once. */
  settle(): Promise<void> | undefined {
    const draining = this.#source?.drain()
    this.#source?.detach()
    return draining === undefined ? this.capture?.flushed() : draining.then(() => this.capture?.flushed())
  }

  /** The tree is gone: what it left is taken, and nothing more is expected, although a stranger may still hold the other end. */
  abandoned(): void {
    const draining = this.#source?.drain()
    if (draining === undefined) this.capture?.finish()
    else void draining.then(() => this.capture?.finish())
  }

  close(): void {
    this.#source?.close()
    this.stream?.destroy()
  }

  #ended(open: Set<Closable>): void {
    open.delete(this)
    this.#discard()
  }

  #discard(): void {
    if (this.#attached !== undefined) this.#parts.stock.discard(this.#attached)
    this.#attached = undefined
  }

  #useFifo<T>(use: (descriptor: number) => T): T | undefined {
    const fifo = this.#fifo
    if (fifo === undefined) return undefined
    this.#fifo = undefined
    this.#attached = fifo
    try {
      return use(fifo.readEnd)
    } catch (error) {
      closeSync(fifo.readEnd)
      throw error
    }
  }
}
