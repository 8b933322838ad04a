import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FifoSource } from '../src/channel/fifo-source.ts'
import { LateClosing } from '../src/channel/late-closing.ts'
import { ReadBuffer } from '../src/channel/read-buffer.ts'
import { openShelf } from './open-capture.ts'

function open(maxBytes = 1_000) {
  const { capture: openCapture, directory } = openShelf()
  const path = join(directory.path(), 'fifo')
  execFileSync('mkfifo', [path])
  const { capture, reader } = openCapture({ maxBytes })
  const source = new FifoSource(
    openSync(path, constants.O_RDONLY | constants.O_NONBLOCK),
    { buffer: new ReadBuffer(65_536), closing: new LateClosing() },
    capture,
  )
  source.listen()
  onTestFinished(() => source.close())
  const writeEnd = openSync(path, constants.O_WRONLY)
  return { capture, reader, source, writeEnd }
}

it('SP-38 a fault while bytes are kept ends the stream with that fault, and nobody else hears of it', async () => {
  const { capture, reader, writeEnd } = open()
  capture.append = () => {
    throw new RangeError('Array buffer allocation failed')
  }
  writeSync(writeEnd, 'x')
  while (!reader.finished) await new Promise((resolve) => setImmediate(resolve))
  expect(reader.readFrom(0)).toEqual({ text: '', startOffset: 0, nextOffset: 0, lossy: false, error: 'Array buffer allocation failed' })
  closeSync(writeEnd)
})

it('SP-29 a drain takes what is there, closes at end of file only, and may come at any time', async () => {
  const { reader, source, writeEnd } = open()
  const descriptors = readdirSync('/proc/self/fd').length
  writeSync(writeEnd, 'one')
  source.drain()
  expect([reader.readFrom(0).text, reader.finished]).toEqual(['one', false])
  source.drain()
  expect(reader.finished).toBe(false)
  writeSync(writeEnd, ' two')
  closeSync(writeEnd)
  source.drain()
  expect([reader.readFrom(0).text, reader.finished]).toEqual(['one two', true])
  // The read end goes at the end of the turn: nothing may touch a number that somebody else may have by then.
  await new Promise((resolve) => setImmediate(resolve))
  expect(readdirSync('/proc/self/fd').length).toBe(descriptors - 2)
  source.drain()
  source.detach()
  source.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(readdirSync('/proc/self/fd').length).toBe(descriptors - 2)
})

it('SP-29 a stream that is drained to its end in the turn in which it was opened never has a socket, and leaves no descriptor', async () => {
  const { capture: openCapture, directory } = openShelf()
  const path = join(directory.path(), 'fifo')
  execFileSync('mkfifo', [path])
  const descriptors = readdirSync('/proc/self/fd').length
  const readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writeEnd = openSync(path, constants.O_WRONLY)
  writeSync(writeEnd, 'all')
  closeSync(writeEnd)
  const { capture, reader } = openCapture({ maxBytes: 1_000 })
  const source = new FifoSource(readEnd, { buffer: new ReadBuffer(65_536), closing: new LateClosing() }, capture)
  source.listen()
  source.drain()
  source.drain()
  expect([reader.readFrom(0).text, reader.finished]).toEqual(['all', true])
  source.detach()
  source.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(readdirSync('/proc/self/fd').length).toBe(descriptors)
})

it('SP-29 what is to be closed at the end of the turn is so earlier where that does not come', () => {
  const closing = new LateClosing()
  const before = readdirSync('/proc/self/fd').length
  for (let count = 0; count < 200; count++) {
    closing.close(openSync('/dev/null', 'r'))
    expect(readdirSync('/proc/self/fd').length - before).toBeLessThanOrEqual(8)
  }
})

it('a flood steps back after each half megabyte, and is read to its end all the same', async () => {
  const { reader, source, writeEnd, capture } = open()
  const chunk = Buffer.alloc(32_768, 'y')
  for (let count = 0; count < 100; count++) {
    writeSync(writeEnd, chunk)
    while (capture.size < (count + 1) * chunk.length) await new Promise((resolve) => setImmediate(resolve))
  }
  closeSync(writeEnd)
  while (!reader.finished) await new Promise((resolve) => setImmediate(resolve))
  expect(reader.size()).toBe(3_276_800)
  source.close()
})
