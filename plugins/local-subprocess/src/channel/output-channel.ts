import { closeSync, constants, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type { OutputMode } from '@tenon/subprocess'
import type { OutputEnd } from '../launch/launch-plan.ts'
import { Capture } from '../output/capture.ts'
import type { SpillShelf } from '../output/spill-shelf.ts'
import { FifoSource, type Source, type SourceParts } from './fifo-source.ts'
import type { Fifo, FifoStock } from './fifo-stock.ts'
import { PipeSource } from './pipe-source.ts'

export interface ChannelParts extends SourceParts {
  readonly stock: FifoStock
  readonly shelf: SpillShelf
  /** The name of a FIFO stays until its stream has ended. */
  readonly keepsNames: boolean
}

/** Something that lives until its end comes, or the runtime's. */
export interface Closable {
  close(): void
}

/**
 * One of the two outputs of a child, from before its launch until nothing can come any more: `open`, `promise` while it is not known whether
 * the child starts, `attach` when it holds its end; `cancel` at any point before that when nothing was started.
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
  /**
   * Of a raw stream, both ends again, until the start is decided: without a writer its reader would be at its end, and without a reader, should the
   * caller destroy the stream meanwhile, the child's end could not be opened.
   */
  #standIn: number | undefined
  /** Whether the child starts is not known: its name is still needed. */
  #isPromised = false
  #hasEnded = false
  #source: Source | undefined

  constructor(mode: OutputMode, parts: ChannelParts) {
    this.#mode = mode
    this.#parts = parts
    this.capture = typeof mode === 'object' ? new Capture(mode, parts.shelf) : undefined
  }

  /** A raw stream is a FIFO too: Node throws away what nobody has begun to read from a pipe of its own when the child exits. @throws EMFILE, ENFILE */
  open(): void {
    if (this.#mode !== 'inherit') this.#fifo = this.#parts.stock.take()
    if (this.#mode === 'pipe' && this.#fifo !== undefined) this.#standIn = openSync(this.#fifo.path, constants.O_RDWR | constants.O_NONBLOCK)
  }

  get end(): OutputEnd {
    if (this.#mode === 'inherit') return { kind: 'inherit' }
    return this.#fifo === undefined ? { kind: 'pipe' } : { kind: 'fifo', path: this.#fifo.path }
  }

  /** A raw stream is there at once for whoever called; of what is captured everything is there but the reading. */
  promise(open: Set<Closable>): void {
    this.#isPromised = true
    if (this.capture === undefined) this.#attachRaw(undefined, open)
    else this.#attachCapture(this.capture, undefined, open)
  }

  /**
   * The child holds its end. `pipe` is the host's end of a pipe; `isNamed` says whether the FIFO's name is still there. Stays in `open` until
   * nothing can come any more.
   */
  attach(pipe: Readable | undefined, open: Set<Closable>, isNamed: boolean): void {
    if (this.capture === undefined) {
      if (this.stream === undefined) this.#attachRaw(pipe, open)
    } else {
      if (this.#source === undefined) this.#attachCapture(this.capture, pipe, open)
      this.#source?.listen()
    }
    this.#isPromised = false
    this.#closeStandIn()
    const { keepsNames } = this.#parts
    if (!keepsNames || this.#hasEnded) this.#discard(keepsNames || isNamed)
  }

  /** Nothing was started. */
  cancel(): void {
    if (this.#fifo !== undefined) this.#parts.stock.cancel(this.#fifo)
    this.#fifo = undefined
    this.#closeStandIn()
    this.close()
    this.capture?.end()
    this.#discard(true)
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

  #attachRaw(pipe: Readable | undefined, open: Set<Closable>): void {
    this.stream = this.#useFifo((descriptor) => new Socket({ fd: descriptor, readable: true, writable: false })) ?? pipe
    if (this.stream === undefined) return
    open.add(this)
    this.stream.once('close', () => this.#ended(open))
  }

  #attachCapture(capture: Capture, pipe: Readable | undefined, open: Set<Closable>): void {
    open.add(this)
    capture.onEnd = () => this.#ended(open)
    this.#source = this.#useFifo((descriptor) => new FifoSource(descriptor, this.#parts, capture))
    if (this.#source === undefined && pipe !== undefined) this.#source = new PipeSource(pipe, capture)
  }

  #ended(open: Set<Closable>): void {
    open.delete(this)
    this.#hasEnded = true
    if (!this.#isPromised) this.#discard(true)
  }

  #discard(isNamed: boolean): void {
    if (this.#attached !== undefined && isNamed) this.#parts.stock.discard(this.#attached)
    this.#attached = undefined
  }

  #closeStandIn(): void {
    if (this.#standIn !== undefined) closeSync(this.#standIn)
    this.#standIn = undefined
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
