import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { FifoSource } from '../src/channel/fifo-source.ts'
import { ReadBuffer } from '../src/channel/read-buffer.ts'
import { openShelf } from './open-capture.ts'

function open(maxBytes = 1_000) {
  const { capture: openCapture, directory } = openShelf()
  const path = join(directory.path(), 'fifo')
  execFileSync('mkfifo', [path])
  const { capture, reader } = openCapture({ maxBytes })
  const source = new FifoSource(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), new ReadBuffer(65_536), capture)
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
  // The write end and the read end: a second drain must not touch a number that somebody else may have by now.
  expect(readdirSync('/proc/self/fd').length).toBe(descriptors - 2)
  source.drain()
  source.detach()
  source.close()
  await new Promise((resolve) => setImmediate(resolve))
  expect(readdirSync('/proc/self/fd').length).toBe(descriptors - 2)
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
