import { closeSync, constants, openSync, unlinkSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { StdinEnd } from '../launch/launch-plan.ts'
import type { FifoStock } from './fifo-stock.ts'
import { isOutOfDescriptors } from './fifo-stock.ts'
import type { PrivateDirectory } from './private-directory.ts'

/** Beyond this, writing a file would block the event loop for too long. */
const FILE_BYTES = 1_048_576

/** Data on its way to a standard input. */
export interface StdinData {
  readonly end: StdinEnd
  /** The child holds its end. `stream` is the host's end of a `pipe`. */
  launched(stream: Writable | undefined): void
  /** The launch failed. */
  cancel(): void
  /** Delivering goes on, but keeps no host alive. */
  detach(): void
}

/**
 * A file where possible: then nothing can fail while the child runs, and `/dev/stdin` can be opened. Else a FIFO, else a pipe, whose
 * write errors mean that the child did not want the rest.
 * @throws EMFILE and ENFILE
 */
export function supplyStdin(data: string | Uint8Array, name: string, directory: PrivateDirectory, stock: FifoStock): StdinData {
  const bytes = typeof data === 'string' ? Buffer.from(data, 'utf8') : data
  if (bytes.length === 0) return { end: { kind: 'null' }, launched: nothing, cancel: nothing, detach: nothing }
  return (bytes.length <= FILE_BYTES ? byFile(bytes, name, directory) : undefined) ?? byFifo(bytes, stock) ?? byPipe(bytes)
}

function byFile(bytes: Uint8Array, name: string, directory: PrivateDirectory): StdinData | undefined {
  try {
    const path = join(directory.path(), name)
    const descriptor = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
    const remove = (): void => discard(path)
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done, done)
    } catch (error) {
      remove()
      throw error
    } finally {
      closeSync(descriptor)
    }
    return { end: { kind: 'file', path }, launched: remove, cancel: remove, detach: nothing }
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error
    directory.renew()
    return undefined
  }
}

function byFifo(bytes: Uint8Array, stock: FifoStock): StdinData | undefined {
  const fifo = stock.take()
  if (fifo === undefined) return undefined
  let writeEnd: number
  try {
    // The stock's read end stands in for the child's until that is open: without a reader this fails.
    writeEnd = openSync(fifo.path, constants.O_WRONLY | constants.O_NONBLOCK)
  } catch (error) {
    stock.cancel(fifo)
    if (isOutOfDescriptors(error)) throw error
    return undefined
  }
  let stream: Socket | undefined
  // Let go of once it is on its way: the handle of a spawn outlives its data.
  let undelivered: Uint8Array | undefined = bytes
  return {
    end: { kind: 'fifo', path: fifo.path },
    launched() {
      stock.cancel(fifo)
      stream = new Socket({ fd: writeEnd, readable: false, writable: true })
      deliver(stream, undelivered)
      undelivered = undefined
    },
    cancel() {
      stock.cancel(fifo)
      closeSync(writeEnd)
    },
    detach: () => void stream?.unref(),
  }
}

function byPipe(bytes: Uint8Array): StdinData {
  let stream: (Writable & { unref?(): unknown }) | undefined
  let undelivered: Uint8Array | undefined = bytes
  return {
    end: { kind: 'pipe' },
    launched(end) {
      stream = end
      if (end !== undefined) deliver(end, undelivered)
      undelivered = undefined
    },
    cancel: nothing,
    detach: () => void stream?.unref?.(),
  }
}

function deliver(stream: Writable, bytes: Uint8Array | undefined): void {
  // The child closed its standard input, or died. It destroys the stream, and so lets go of the rest of the data.
  stream.on('error', nothing)
  stream.end(bytes)
}

/** Whether it was there does not matter. */
function discard(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // A cleaner was faster.
  }
}

function nothing(): void {}
