import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openShelf } from './open-capture.ts'

/** Well-formed text, cut-off characters, overlong forms, surrogates and noise, mixed. */
const bytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }).map((text) => Buffer.from(text)),
      fc.constantFrom('≤', '😀', 'é', '\u{feff}', '\u{2028}').map((text) => Buffer.from(text)),
      fc
        .constantFrom([0xe2, 0x89], [0xf0, 0x9f, 0x98], [0xc3], [0x80], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf4, 0x90], [0xff], [0xe0, 0x9f])
        .map((raw) => Buffer.from(raw)),
      fc.uint8Array({ maxLength: 5 }).map((raw) => Buffer.from(raw)),
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.concat(parts))

/** Cuts a stream into chunks of the given lengths, again and again. */
function chunksOf(whole: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, turn = 0; at < whole.length; turn++) {
    const length = lengths[turn % lengths.length] ?? 1
    chunks.push(whole.subarray(at, at + length))
    at += length
  }
  return chunks
}

const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 })

describe('reading text', () => {
  it('SP-25 chained reads are the decode of the whole, for any chunking and any schedule of reads', () => {
    const { capture: open } = openShelf()
    fc.assert(
      fc.property(bytes, lengths, fc.array(fc.integer({ min: 4, max: 40 }), { minLength: 1 }), (whole, cuts, sizes) => {
        const { capture, reader } = open({ maxBytes: 4_096 })
        let text = ''
        let offset = 0
        let turn = 0
        const read = (): boolean => {
          const result = reader.readFrom(offset, sizes[turn++ % sizes.length])
          expect(result.lossy).toBe(false)
          expect(result.startOffset).toBe(offset)
          text += result.text
          offset = result.nextOffset
          return result.text !== ''
        }
        for (const chunk of chunksOf(whole, cuts)) {
          capture.append(chunk)
          read()
        }
        capture.end()
        while (read());
        expect(offset).toBe(whole.length)
        expect(text).toBe(whole.toString('utf8'))
      }),
      { numRuns: 500 },
    )
  })

  it('SP-25 a read from any offset begins at the next boundary and agrees with the whole', () => {
    const { capture: open } = openShelf()
    fc.assert(
      fc.property(bytes, (whole) => {
        const { capture, reader } = open({ maxBytes: 4_096 })
        if (whole.length > 0) capture.append(whole)
        capture.end()
        for (let offset = 0; offset <= whole.length; offset++) {
          const { text, startOffset, nextOffset } = reader.readFrom(offset)
          expect(startOffset - offset).toBeLessThanOrEqual(3)
          expect(nextOffset).toBe(whole.length)
          expect(whole.toString('utf8', 0, startOffset) + text).toBe(whole.toString('utf8'))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('SP-25 small reads of a finished stream cut no character either', () => {
    const { capture: open } = openShelf()
    fc.assert(
      fc.property(bytes, fc.integer({ min: 4, max: 9 }), (whole, size) => {
        const { capture, reader } = open({ maxBytes: 4_096 })
        if (whole.length > 0) capture.append(whole)
        capture.end()
        let text = ''
        for (let offset = 0; offset < whole.length; ) {
          const read = reader.readFrom(offset, size)
          expect(read.nextOffset).toBeGreaterThan(offset)
          expect(read.nextOffset - offset).toBeLessThanOrEqual(size)
          text += read.text
          offset = read.nextOffset
        }
        expect(text).toBe(whole.toString('utf8'))
      }),
      { numRuns: 500 },
    )
  })

  it.each([
    ['a surrogate', [0xed, 0xa0, 0x80, 0x41], 1],
    ['an overlong form', [0xe0, 0x9f, 0x80, 0x41], 1],
    ['an overlong form of four', [0xf0, 0x8f, 0x80, 0x41], 1],
    ['what is above U+10FFFF', [0xf4, 0x90, 0x80, 0x41], 1],
    ['a lead that leads nothing', [0xc0, 0x80, 0x41], 1],
    ['a character cut short', [0xf0, 0x9f, 0x98, 0x41], 3],
  ])('SP-26 the bytes of %s are replaced one by one, or as far as they go together', (_what, raw, boundary) => {
    const { capture, reader } = openShelf().capture({ maxBytes: 64 })
    capture.append(Buffer.from(raw))
    capture.end()
    expect(reader.readFrom(1).startOffset).toBe(boundary)
    expect(reader.readFrom(0).text).toBe(Buffer.from(raw).toString('utf8'))
  })

  it('SP-26 caps from 995 to 1005 over multi-byte text never cut a character', () => {
    const { capture: open } = openShelf()
    const whole = Buffer.from('aé≤😀'.repeat(1_000))
    for (let maxBytes = 995; maxBytes <= 1_005; maxBytes++) {
      const { capture, reader } = open({ maxBytes })
      for (const chunk of chunksOf(whole, [7, 64, 1])) {
        capture.append(chunk)
        const { text, startOffset, nextOffset } = reader.readFrom(Math.max(0, capture.size - 500), 333)
        expect(text).not.toContain('\u{fffd}')
        expect(Buffer.from(text).equals(whole.subarray(startOffset, nextOffset))).toBe(true)
      }
      const { text, lossy, startOffset } = reader.readFrom(0)
      expect(lossy).toBe(true)
      expect(text).not.toContain('\u{fffd}')
      expect(text).toBe(whole.toString('utf8', startOffset, startOffset + Buffer.byteLength(text)))
    }
  })

  it('SP-26 the tail begins at a boundary even where the bytes before it are lost', () => {
    const { capture: open } = openShelf()
    fc.assert(
      fc.property(bytes, lengths, fc.integer({ min: 4, max: 30 }), (whole, cuts, maxBytes) => {
        const { capture, reader } = open({ maxBytes })
        for (const chunk of chunksOf(whole, cuts)) capture.append(chunk)
        capture.end()
        const { text, startOffset, nextOffset, lossy } = reader.readFrom(0)
        expect(lossy).toBe(whole.length > maxBytes)
        expect(startOffset - reader.earliest()).toBeLessThanOrEqual(3)
        expect(nextOffset).toBe(whole.length)
        expect(whole.toString('utf8', 0, startOffset) + text).toBe(whole.toString('utf8'))
      }),
      { numRuns: 500 },
    )
  })

  it('SP-26 a held-back character at the very end is not taken for the beginning of the next read', () => {
    const { capture, reader } = openShelf().capture({ maxBytes: 64 })
    capture.append(Buffer.from([0x61, 0xf0, 0x9f]))
    expect(reader.readFrom(0)).toEqual({ text: 'a', startOffset: 0, nextOffset: 1, lossy: false })
    expect(reader.readFrom(2)).toEqual({ text: '', startOffset: 2, nextOffset: 2, lossy: false })
    capture.append(Buffer.from([0x98, 0x80, 0x62]))
    expect(reader.readFrom(1).text).toBe('😀b')
    expect(reader.readFrom(2)).toMatchObject({ text: 'b', startOffset: 5 })
  })

  it('SP-38 more than a string can hold raises nothing: the tail is served', () => {
    const { capture, reader } = openShelf().capture({ maxBytes: 1_000 })
    const chunk = Buffer.alloc(1_048_576, 'x')
    for (let count = 0; count < 700; count++) capture.append(chunk)
    expect(reader.size()).toBe(700 * 1_048_576)
    expect(reader.readFrom(0)).toMatchObject({ text: 'x'.repeat(1_000), lossy: true })
  })
})

describe('changed', () => {
  it('SP-27 wakes on the data itself, leaves no listener and makes no timer', async () => {
    const { capture, reader } = openShelf().capture({ maxBytes: 64 })
    const { signal } = new AbortController()
    let listeners = 0
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)]
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      listeners--
      remove(...args)
    }
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
    const before = timers()
    const waiting = Array.from({ length: 20 }, () => reader.changed(0, signal))
    expect(listeners).toBe(1)
    expect(timers()).toBe(before)
    expect(capture.waiting).toBe(true)
    capture.append(Buffer.from('x'))
    expect(capture.waiting).toBe(false)
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 20 }, () => true))
    expect(listeners).toBe(0)
    const late = reader.changed(1, signal)
    capture.end()
    expect(await late).toBe(false)
    expect(listeners).toBe(0)
  })

  it('SP-27 an abort releases its own waiter only', async () => {
    const { capture, reader } = openShelf().capture({ maxBytes: 64 })
    const [one, other] = [new AbortController(), new AbortController()]
    const [first, second] = [reader.changed(0, one.signal), reader.changed(0, other.signal)]
    one.abort()
    expect(await first).toBe(false)
    capture.append(Buffer.from('x'))
    expect(await second).toBe(true)
  })
})
