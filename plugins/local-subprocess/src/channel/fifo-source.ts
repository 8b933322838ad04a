import { readSync } from 'node:fs'
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net'
import type { Capture } from '../output/capture.ts'
import type { LateClosing } from './late-closing.ts'
import type { ReadBuffer } from './read-buffer.ts'

/** The largest pipe a child can make (`/proc/sys/fs/pipe-max-size`); what one drain reads at most. */
export const DRAIN_BYTES = 1_048_576

/** A stream steps back after so many bytes: libuv would read 2 MiB of a flood in one go, and with four floods nobody else gets a turn. */
const TURN_BYTES = 524_288

/** Where the bytes of a captured stream come from. */
export interface Source {
  /** There is somebody who writes: without, a FIFO is at its end. */
  listen(): void
  /**
   * Takes what the leader, which has exited, left behind; without waiting for survivors. Undefined when that could be done at once.
   */
  drain(): Promise<void> | undefined
  /** Reading goes on, but keeps no host alive. */
  detach(): void
  close(): void
}

/** Shared by all streams of a runtime. */
export interface SourceParts {
  /** What is read into it is copied before the next read. */
  readonly buffer: ReadBuffer
  readonly closing: LateClosing
}

/**
 * Reads a FIFO into a capture. The socket reads into one buffer that all streams of the runtime share: the capture copies what it
 * keeps before the call returns, so an idle stream costs no buffer of its own. There is a socket from the end of a turn on: a stream whose
 * leader is known to have exited by then is drained, and at its end nearly always.
 */
export class FifoSource implements Source {
  readonly #descriptor: number
  readonly #buffer: ReadBuffer
  readonly #closing: LateClosing
  readonly #capture: Capture
  #socket: Socket | undefined
  #closed = false
  #detached = false
  #turnBytes = 0
  /** Waits for its next turn, or for room. */
  #resting = false

  /** Owns `descriptor` from here on. */
  constructor(descriptor: number, { buffer, closing }: SourceParts, capture: Capture) {
    this.#descriptor = descriptor
    this.#buffer = buffer
    this.#closing = closing
    this.#capture = capture
    capture.onRoom = () => this.#goOn()
  }

  listen(): void {
    setImmediate(() => this.#openSocket())
  }

  /**
   * The socket holds nothing back (it has no queue), so what the leader left is in the FIFO: at most its size. A survivor that goes on
   * writing cannot make it longer than that. A paused stream is read on all the same, past the bound of its queue.
   */
  drain(): undefined {
    try {
      // The descriptor is closed in the tick in which the socket is destroyed.
      for (let left = DRAIN_BYTES; left > 0 && !this.#isClosed; ) {
        const count = this.#read()
        if (count === undefined) return
        if (count === 0) {
          this.close()
          return
        }
        left -= count
        this.#capture.append(this.#buffer.beginning(count))
      }
    } catch (error) {
      this.#fail(error)
    }
  }

  detach(): void {
    this.#detached = true
    if (!this.#isClosed) this.#socket?.unref()
  }

  close(): void {
    if (!this.#isClosed) {
      this.#closed = true
      if (this.#socket === undefined) this.#closing.close(this.#descriptor)
      else this.#socket.destroy()
    }
    this.#capture.end()
  }

  get #isClosed(): boolean {
    return this.#closed || this.#socket?.destroyed === true
  }

  #openSocket(): void {
    if (this.#closed) return
    const onread: OnReadOpts = { buffer: this.#buffer.whole, callback: (count) => this.#take(count) }
    // Documented for the constructor, and missing from its type.
    const options: SocketConstructorOpts & { onread: OnReadOpts } = { fd: this.#descriptor, readable: true, writable: false, onread }
    try {
      this.#socket = new Socket(options)
    } catch (error) {
      // The child runs: it is no start failure any more, but a stream that cannot be read.
      this.#fail(error)
      return
    }
    this.#socket.once('error', (error: Error) => this.#capture.end(error.message))
    this.#socket.once('end', () => this.#capture.end())
    this.#socket.once('close', () => this.#capture.end())
    if (this.#detached) this.#socket.unref()
  }

  /** False stops the reading. Called for every piece of a flood: it makes no garbage. */
  #take(count: number): boolean {
    try {
      return this.#append(count)
    } catch (error) {
      this.#fail(error)
      return false
    }
  }

  #append(count: number): boolean {
    const hasRoom = this.#capture.append(this.#buffer.beginning(count))
    this.#turnBytes += count
    if (hasRoom && this.#turnBytes < TURN_BYTES) return true
    this.#resting = true
    this.#turnBytes = 0
    // A stream that outlives its leader keeps no host alive, however much it floods.
    if (hasRoom) setImmediate(() => this.#goOn()).unref()
    return false
  }

  #goOn(): void {
    if (!this.#resting || this.#isClosed || this.#capture.congested) return
    this.#resting = false
    this.#socket?.resume()
  }

  /** Undefined when there is nothing now and somebody could still write. */
  #read(): number | undefined {
    try {
      return readSync(this.#descriptor, this.#buffer.whole, 0, this.#buffer.whole.length, null)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined
      throw error
    }
  }

  /** A stream that cannot be read, or kept, is its own fault only: nobody could catch what is thrown in a callback of the socket. */
  #fail(error: unknown): void {
    this.#capture.end(error instanceof Error ? error.message : String(error))
    this.close()
  }
}
