import { existsSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OWNER_FILE } from '../src/channel/private-directory.ts'
import { type SpillFiles, systemFiles } from '../src/output/spill-shelf.ts'
import { openShelf } from './open-capture.ts'

const MEBIBYTE = 1_048_576

function numbered(bytes: number): Buffer {
  return Buffer.from(Array.from({ length: bytes }, (_, index) => (index * 7 + (index >> 8)) % 256))
}

function spilled(directory: { path(): string }): string[] {
  return readdirSync(directory.path()).filter((name) => name.endsWith('.out'))
}

/** Lets writes through one at a time. */
function gated(): { files: Partial<SpillFiles>; open(): void; readonly waiting: number } {
  const held: (() => void)[] = []
  let isOpen = false
  return {
    files: {
      async write(descriptor, buffers, position) {
        if (!isOpen) await new Promise<void>((resolve) => held.push(resolve))
        return systemFiles.write(descriptor, buffers, position)
      },
    },
    open() {
      isOpen = true
      for (const resolve of held.splice(0)) resolve()
    },
    get waiting() {
      return held.length
    },
  }
}

describe('spilling', () => {
  it('SP-22 the file is the stream and the tail its end, for any chunking', async () => {
    const { capture: open } = openShelf()
    const whole = numbered(40_000)
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 4, max: 3_000 }),
        fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1, maxLength: 20 }),
        async (maxBytes, lengths) => {
          const { capture, reader } = open({ maxBytes, spill: { maxBytes: MEBIBYTE } })
          let at = 0
          for (const length of lengths) {
            if (at >= whole.length) break
            capture.append(whole.subarray(at, at + length))
            at = Math.min(whole.length, at + length)
            // Sometimes the disk keeps up, sometimes not.
            if (length % 3 === 0) await capture.flushed()
            const some = capture.bytes(0, at)
            expect(some?.equals(whole.subarray(0, at))).toBe(true)
          }
          capture.end()
          await capture.flushed()
          if (at <= maxBytes) expect(reader.spillPath).toBeUndefined()
          else expect(readFileSync(reader.spillPath ?? '').equals(whole.subarray(0, at))).toBe(true)
          expect(reader.earliest()).toBe(0)
          reader.release()
          expect(capture.bytes(Math.max(0, at - maxBytes), at)?.equals(whole.subarray(Math.max(0, at - maxBytes), at))).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })

  it('SP-22 the path is published only while every byte so far is in the file', async () => {
    const gate = gated()
    const { capture, reader } = openShelf({}, gate.files).capture({ maxBytes: 8, spill: { maxBytes: MEBIBYTE } })
    capture.append(Buffer.from('0123456789'))
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(reader.spillPath).toBeUndefined()
    expect(reader.readFrom(0, 4)).toMatchObject({ text: '0123', lossy: false })
    gate.open()
    await capture.flushed()
    expect(readFileSync(reader.spillPath ?? '', 'utf8')).toBe('0123456789')
    capture.append(Buffer.from('x'))
    expect(reader.spillPath).toBeUndefined()
    await capture.flushed()
    expect(readFileSync(reader.spillPath ?? '', 'utf8')).toBe('0123456789x')
  })

  it('SP-22 reading pauses when 4 MiB wait for the disk, and goes on when they do not any more', async () => {
    const gate = gated()
    const { capture, reader } = openShelf({}, gate.files).capture({ maxBytes: 1_000, spill: { maxBytes: 64 * MEBIBYTE } })
    let room = 0
    capture.onRoom = () => room++
    const whole = numbered(5 * MEBIBYTE)
    let taken = 0
    const next = (): boolean => {
      taken += 60_000
      return capture.append(whole.subarray(taken - 60_000, taken))
    }
    next()
    // The first blocks are with the disk when the rest arrives.
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve))
    while (next());
    expect(taken).toBeGreaterThan(3.9 * MEBIBYTE)
    expect(taken).toBeLessThan(4.2 * MEBIBYTE)
    expect(room).toBe(0)
    gate.open()
    await capture.flushed()
    expect(room).toBe(1)
    expect(next()).toBe(true)
    await capture.flushed()
    expect(readFileSync(reader.spillPath ?? '').equals(whole.subarray(0, taken))).toBe(true)
  })

  it('SP-24 the disk never holds more than the cap, and what is over it ends the file for good', async () => {
    const { capture: open, directory } = openShelf()
    const { capture, reader } = open({ maxBytes: 100, spill: { maxBytes: 1_000 } })
    capture.append(numbered(1_000))
    await capture.flushed()
    const path = reader.spillPath ?? ''
    expect(statSync(path).size).toBe(1_000)
    capture.append(Buffer.from('x'))
    expect(reader).toMatchObject({ spillPath: undefined })
    expect(reader.readFrom(0).lossy).toBe(true)
    while (existsSync(path)) await new Promise((resolve) => setImmediate(resolve))
    capture.append(numbered(50))
    await capture.flushed()
    expect(spilled(directory)).toEqual([])
    expect(reader.earliest()).toBe(1_051 - 100)
  })

  it('SP-24 one chunk that is larger than the cap makes no file at all', async () => {
    const { capture: open, directory } = openShelf()
    const { capture, reader } = open({ maxBytes: 100, spill: { maxBytes: 1_000 } })
    directory.path()
    capture.append(numbered(1_001))
    await capture.flushed()
    expect(spilled(directory)).toEqual([])
    expect(reader.earliest()).toBe(901)
  })

  it.each(['0000', '0277', '0477', '0777'])(
    'SP-35 the directory is 0700 and files in it 0600 whatever the umask, with random names (umask %s)',
    async (mask) => {
      const { capture: open, directory } = openShelf()
      const umask = process.umask(mask)
      try {
        const names = new Set<string>()
        for (let count = 0; count < 3; count++) {
          const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: 100 } })
          capture.append(Buffer.from('01234'))
          await capture.flushed()
          expect(statSync(reader.spillPath ?? '').mode & 0o777).toBe(0o600)
          names.add(reader.spillPath ?? '')
        }
        expect(names.size).toBe(3)
        expect(statSync(directory.path()).mode & 0o777).toBe(0o700)
        expect(statSync(join(directory.path(), OWNER_FILE)).mode & 0o777).toBe(0o600)
      } finally {
        process.umask(umask)
      }
    },
  )

  it('SP-37 beyond retainedSpillBytes the oldest goes, its path first', async () => {
    const { capture: open } = openShelf({ retainedSpillBytes: 2_500 })
    const readers = []
    for (let count = 0; count < 3; count++) {
      const { capture, reader } = open({ maxBytes: 100, spill: { maxBytes: 10_000 } })
      capture.append(numbered(1_000))
      await capture.flushed()
      readers.push(reader)
    }
    expect(readers.map((reader) => reader.spillPath !== undefined)).toEqual([false, true, true])
    expect(readers[0]?.readFrom(0)).toMatchObject({ lossy: true, startOffset: expect.any(Number) })
    // What was given back counts no more.
    readers[1]?.release()
    const { capture, reader } = open({ maxBytes: 100, spill: { maxBytes: 10_000 } })
    capture.append(numbered(1_400))
    await capture.flushed()
    expect([readers[2]?.spillPath, reader.spillPath].every((path) => path !== undefined && existsSync(path))).toBe(true)
  })
})

describe('what can go wrong', () => {
  const failures: [keyof SpillFiles, string][] = [
    ['create', 'EROFS'],
    ['write', 'ENOSPC'],
    ['write', 'EDQUOT'],
    ['freeBytes', 'EIO'],
    ['links', 'EIO'],
  ]
  it.each(failures)('SP-34 a failing %s (%s) withdraws the file, says so once, and the tail goes on', async (operation, code) => {
    const fail = (): Promise<never> => Promise.reject(Object.assign(new Error('it fails'), { code }))
    const { capture: open, warned } = openShelf({}, { [operation]: fail })
    for (let count = 0; count < 3; count++) {
      const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: 100 } })
      capture.append(Buffer.from('0123456789'))
      await capture.flushed()
      while (reader.earliest() === 0) await new Promise((resolve) => setImmediate(resolve))
      expect(reader.spillPath).toBeUndefined()
      expect(reader.readFrom(0)).toEqual({ text: '6789', startOffset: 6, nextOffset: 10, lossy: true })
      capture.append(Buffer.from('ab'))
      capture.end()
      expect(reader.readFrom(8).text).toBe('89ab')
    }
    expect(warned).toHaveLength(1)
    expect(warned[0]).toContain(code)
  })

  it('SP-34 a failing close or unlink changes nothing', async () => {
    const fail = (code: string) => (): Promise<never> => Promise.reject(Object.assign(new Error('it fails'), { code }))
    const { capture: open, warned } = openShelf({}, { close: fail('EIO'), unlink: fail('EBUSY') })
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: 100 } })
    capture.append(Buffer.from('0123456789'))
    capture.end()
    await capture.flushed()
    expect(reader.readFrom(0, 4).text).toBe('0123')
    reader.release()
    expect(reader.readFrom(0).text).toBe('6789')
    while (warned.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(warned.join()).toMatch(/EIO.*EBUSY|EBUSY.*EIO/)
  })

  it('SP-34 falling below minFreeBytes in the middle withdraws the file', async () => {
    let free = 2_000
    const { capture: open, warned } = openShelf({ minFreeBytes: 1_000 }, { freeBytes: async () => free })
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: MEBIBYTE } })
    capture.append(Buffer.from('0123456789'))
    await capture.flushed()
    expect(reader.spillPath).toBeDefined()
    free = 999
    capture.append(Buffer.from('ab'))
    while (reader.earliest() === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(reader.spillPath).toBeUndefined()
    expect(reader.readFrom(0).text).toBe('89ab')
    expect(warned).toHaveLength(1)
  })

  it('SP-34 a cleaner that takes the file is noticed at the next write', async () => {
    const { capture: open, warned } = openShelf()
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: MEBIBYTE } })
    capture.append(Buffer.from('0123456789'))
    await capture.flushed()
    unlinkSync(reader.spillPath ?? '')
    capture.append(Buffer.from('ab'))
    while (reader.earliest() === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(reader.readFrom(0)).toMatchObject({ text: '89ab', lossy: true })
    expect(warned).toEqual([])
  })

  it('SP-34 a cleaner that takes the file is noticed at the next read, which serves the tail', async () => {
    const { capture: open } = openShelf()
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: MEBIBYTE } })
    capture.append(Buffer.from('0123456789'))
    await capture.flushed()
    unlinkSync(reader.spillPath ?? '')
    expect(reader.readFrom(0)).toEqual({ text: '6789', startOffset: 6, nextOffset: 10, lossy: true })
    expect(reader.spillPath).toBeUndefined()
  })

  it('SP-34 a directory that a cleaner took is made anew for the next file', async () => {
    const { capture: open, directory, warned } = openShelf()
    rmSync(directory.path(), { recursive: true })
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: MEBIBYTE } })
    capture.append(Buffer.from('0123456789'))
    await capture.flushed()
    expect(readFileSync(reader.spillPath ?? '', 'utf8')).toBe('0123456789')
    expect(warned).toEqual([])
  })

  it('SP-34 a file that cannot be read is reported by the read, distinct from no output', async () => {
    const readSync = (): never => {
      throw Object.assign(new Error('input/output error'), { code: 'EIO' })
    }
    const { capture: open } = openShelf({}, { readSync })
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: MEBIBYTE } })
    capture.append(Buffer.from('0123456789'))
    await capture.flushed()
    expect(reader.readFrom(1)).toMatchObject({ text: '', startOffset: 1, nextOffset: 1, error: 'input/output error' })
    expect(reader.readFrom(7).text).toBe('789')
  })

  it('SP-36 a stream released while its file is being made leaves neither file nor descriptor', async () => {
    let made = 0
    const create: SpillFiles['create'] = async (path) => {
      const descriptor = await systemFiles.create(path)
      made++
      return descriptor
    }
    const { capture: open, directory } = openShelf({}, { create })
    const before = readdirSync('/proc/self/fd').length
    const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: 100 } })
    capture.append(Buffer.from('0123456789'))
    reader.release()
    while (made === 0 || spilled(directory).length > 0 || readdirSync('/proc/self/fd').length > before)
      await new Promise((resolve) => setImmediate(resolve))
    expect([made, spilled(directory)]).toEqual([1, []])
  })

  it('SP-36 no descriptor stays open once a stream has ended or was released', async () => {
    const { capture: open } = openShelf()
    const descriptors = (): string[] => readdirSync('/proc/self/fd')
    const before = descriptors().length
    for (let count = 0; count < 200; count++) {
      const { capture, reader } = open({ maxBytes: 4, spill: { maxBytes: 100 } })
      capture.append(Buffer.from('0123456789'))
      if (count % 2 === 0) reader.release()
      capture.end()
      await capture.flushed()
      if (count % 4 === 1) reader.release()
    }
    await expect.poll(() => descriptors().length).toBeLessThanOrEqual(before)
  })
})
