import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { SpawnSpec } from '@tenon/subprocess'
import type { StdinEnd } from '../launch/launch-plan.ts'
import { isOutOfDescriptors } from '../spare-descriptor.ts'
import { discard } from './discard.ts'
import type { Fifo, FifoStock } from './fifo-stock.ts'
import type { PrivateDirectory } from './private-directory.ts'
import { createPrivateFile } from './private-file.ts'

/** Beyond this, writing a file would block the event loop for too long. */
const FILE_BYTES = 1_048_576

/** What a standard input gets, from before the launch until the leader has exited. */
export interface StdinFeed {
  readonly end: StdinEnd
  /** For `pipe`, where the host's end is made before the launch. */
  readonly stream?: Writable
  /** The child holds its end. `pipe` is the host's end of a pipe. */
  started(pipe: Writable | undefined): void
  /** Nothing was started. */
  cancel(): void
  /** The leader has exited. Data may still be on its way to a survivor, but keeps no host alive. */
  exited(): void
}

/**
 * Data goes by a file where possible: then nothing can fail while the child runs, and `/dev/stdin` can be opened. Else by a FIFO, else by
 * a pipe, whose write errors mean that the child did not want the rest. A `pipe` is a FIFO where possible.
 * @throws EMFILE and ENFILE
 */
export function feedStdin(stdin: SpawnSpec['stdin'], name: string, directory: PrivateDirectory, stock: FifoStock): StdinFeed {
  if (stdin === 'ignore') return NOTHING
  if (stdin === 'pipe') return openFifo(stock) ?? { end: { kind: 'pipe' }, started: nothing, cancel: nothing, exited: nothing }
  const bytes = typeof stdin.data === 'string' ? Buffer.from(stdin.data, 'utf8') : stdin.data
  if (bytes.length === 0) return NOTHING
  return (bytes.length <= FILE_BYTES ? byFile(bytes, name, directory) : undefined) ?? byFifo(bytes, stock) ?? byPipe(bytes)
}

const NOTHING: StdinFeed = { end: { kind: 'null' }, started: nothing, cancel: nothing, exited: nothing }

function byFile(bytes: Uint8Array, name: string, directory: PrivateDirectory): StdinFeed | undefined {
  try {
    const path = join(directory.path(), name)
    const descriptor = createPrivateFile(path)
    const remove = (): void => discard(path)
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done, done)
    } catch (error) {
      remove()
      throw error
    } finally {
      closeSync(descriptor)
    }
    return { end: { kind: 'file', path }, started: remove, cancel: remove, exited: nothing }
  } catch (error) {
    if (isOutOfDescriptors(error)) throw error
    directory.renew()
    return undefined
  }
}

function byFifo(bytes: Uint8Array, stock: FifoStock): StdinFeed | undefined {
  const opened = openWriteEnd(stock)
  if (opened === undefined) return undefined
  const { fifo, writeEnd } = opened
  let stream: Socket | undefined
  // Let go of once it is on its way: the handle of a spawn outlives its data.
  let undelivered: Uint8Array | undefined = bytes
  return {
    end: { kind: 'fifo', path: fifo.path },
    started() {
      stock.cancel(fifo)
      stream = new Socket({ fd: writeEnd, readable: false, writable: true })
      deliver(stream, undelivered)
      undelivered = undefined
    },
    cancel() {
      undelivered = undefined
      stock.cancel(fifo)
      closeSync(writeEnd)
    },
    exited: () => void stream?.unref(),
  }
}

/** A stream for whoever called: it can be written to while the launch is under way. */
function openFifo(stock: FifoStock): StdinFeed | undefined {
  const opened = openWriteEnd(stock)
  if (opened === undefined) return undefined
  const { fifo, writeEnd } = opened
  const stream = new Socket({ fd: writeEnd, readable: false, writable: true })
  return {
    end: { kind: 'fifo', path: fifo.path },
    stream,
    started: () => stock.cancel(fifo),
    cancel() {
      stock.cancel(fifo)
      stream.destroy()
    },
    // As Node does with a pipe of its own.
    exited: () => void stream.destroy(),
  }
}

function openWriteEnd(stock: FifoStock): { readonly fifo: Fifo; readonly writeEnd: number } | undefined {
  const fifo = stock.take()
  if (fifo === undefined) return undefined
  try {
    // The stock's read end stands in for the child's until that is open: without a reader this fails.
    return { fifo, writeEnd: openSync(fifo.path, constants.O_WRONLY | constants.O_NONBLOCK) }
  } catch (error) {
    stock.cancel(fifo)
    if (isOutOfDescriptors(error)) throw error
    return undefined
  }
}

function byPipe(bytes: Uint8Array): StdinFeed {
  let stream: (Writable & { unref?(): unknown }) | undefined
  let undelivered: Uint8Array | undefined = bytes
  return {
    end: { kind: 'pipe' },
    started(pipe) {
      stream = pipe
      if (pipe !== undefined) deliver(pipe, undelivered)
      undelivered = undefined
    },
    cancel: nothing,
    exited: () => void stream?.unref?.(),
  }
}

function deliver(stream: Writable, bytes: Uint8Array | undefined): void {
  // The child closed its standard input, or died. It destroys the stream, and so lets go of the rest of the data.
  stream.on('error', nothing)
  stream.end(bytes)
}

function nothing(): void {}
