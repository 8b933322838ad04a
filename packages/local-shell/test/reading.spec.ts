import { renderResult } from '@tenon/shell'
import type { OutputRead, OutputReader } from '@tenon/subprocess'
import { describe, expect, it } from 'vitest'
import { captureText } from '../src/collected-text.ts'
import { ConsumingRead } from '../src/consuming-read.ts'
import { fixedReader } from '../src/fixed-reader.ts'
import { withExecutor } from './executor.ts'

/** A stream that cannot be read as long as `fault` says why. */
class FaultyReader {
  fault: string | Error | undefined
  readonly reader: OutputReader

  constructor(text: string) {
    const whole = fixedReader(text)
    this.reader = {
      ...whole,
      readFrom: (offset, maxBytes): OutputRead => {
        if (this.fault instanceof Error) throw this.fault
        if (this.fault === undefined) return whole.readFrom(offset, maxBytes)
        return { text: '', startOffset: offset, nextOffset: offset, lossy: false, error: this.fault }
      },
    }
  }
}

describe('a capture that cannot be read', () => {
  it.each(['EIO: i/o error', new Error('EIO: i/o error')])('SH-43 is a fact of the stream, beside status and exit code (%s)', (fault) =>
    withExecutor({}, async ({ execute, processes }) => {
      const stdout = new FaultyReader('lost')
      stdout.fault = fault
      processes.onSpawn = (started) => Object.assign(started.handle.output, { stdout: stdout.reader })
      const execution = await execute({ command: 'a' })
      processes.last.write('fine', 'stderr').exit(3)
      const result = await execution.result()
      expect(execution.status).toBe('completed')
      expect(result.stdout).toEqual({ text: '', bytes: 4, truncated: false, error: 'EIO: i/o error' })
      expect(renderResult(result)).toBe('[output could not be read: EIO: i/o error]\n[stderr]\nfine\n[exit code: 3]')
    }),
  )

  it.each(['EIO', new Error('EIO')])('SH-19 is not "no output" to a consumer, who gets it when it can be read again (%s)', (fault) => {
    const stdout = new FaultyReader('text')
    const stderr = fixedReader('')
    const consuming = new ConsumingRead(100, 100)
    stdout.fault = fault
    expect(consuming.next({ stdout: stdout.reader, stderr })).toEqual({ delta: '', lossy: true })
    stdout.fault = undefined
    expect(consuming.next({ stdout: stdout.reader, stderr })).toEqual({ delta: 'text', lossy: false })
  })
})

describe('what a consumer has not read', () => {
  it('SH-19 B182 costs what it is long, however much there was before', () => {
    let text = ''
    let asked = 0
    const growing: OutputReader = {
      ...fixedReader(''),
      size: () => text.length,
      readFrom: (offset, maxBytes = 64_000): OutputRead => {
        const piece = text.slice(offset, offset + maxBytes)
        asked += piece.length
        return { text: piece, startOffset: offset, nextOffset: offset + piece.length, lossy: false }
      },
    }
    const consuming = new ConsumingRead(64_000, 64_000)
    let read = ''
    for (let turn = 0; turn < 20_000; turn++) {
      text += `line ${turn}\n`
      read += consuming.next({ stdout: growing, stderr: fixedReader('') }).delta
    }
    expect([read === text, asked]).toEqual([true, text.length])
  })
})

describe('captured text', () => {
  it('SH-16 of a stream that goes on is that of the moment, and of an ended one is decoded only when asked for', () => {
    let reads = 0
    const counting = (finished: boolean): OutputReader => {
      const reader = fixedReader('abc')
      return {
        ...reader,
        finished,
        readFrom: (...args) => {
          reads++
          return reader.readFrom(...args)
        },
      }
    }
    const later = captureText(counting(true), 100)
    expect(reads).toBe(0)
    expect(later().text).toBe('abc')
    captureText(counting(false), 100)
    expect(reads).toBe(2)
  })
})

describe('the stream of a process that never ran', () => {
  const reader = fixedReader('spawn failed: ≤🛑')

  it('SH-15 reads like any other: by offset, within a bound, with no character cut', () => {
    const size = Buffer.byteLength('spawn failed: ≤🛑')
    expect([reader.size(), reader.earliest(), reader.finished, reader.spillPath]).toEqual([size, 0, true, undefined])
    const pieces: string[] = []
    for (let offset = 0; offset < size; ) {
      const read = reader.readFrom(offset, 4)
      pieces.push(read.text)
      offset = read.nextOffset
    }
    expect(pieces.join('')).toBe('spawn failed: ≤🛑')
    expect(reader.readFrom(15).text).toBe('🛑')
    expect(reader.readFrom(99)).toEqual({ text: '', startOffset: 99, nextOffset: 99, lossy: false })
    expect(() => reader.readFrom(-1)).toThrow(expect.objectContaining({ code: 'READ_INVALID' }))
    expect(() => reader.readFrom(0, 3)).toThrow(expect.objectContaining({ code: 'READ_INVALID' }))
  })

  it('SH-15 has changed if there is more than was seen', async () => {
    expect(await reader.changed(0, AbortSignal.timeout(1_000))).toBe(true)
    expect(await reader.changed(reader.size(), AbortSignal.timeout(1_000))).toBe(false)
  })
})
