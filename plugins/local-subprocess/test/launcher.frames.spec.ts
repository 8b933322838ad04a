import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, FRAME_BYTES, FrameReader } from '../src/launch/frames.ts'
import { hostMessage, launcherMessage, toError, toPlatformError } from '../src/launch/messages.ts'

function framed(message: object): Buffer {
  const frame = encodeFrame(message)
  if (frame === undefined) throw new Error('too large')
  return frame
}

function header(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

/** Cut at the given places. */
function pieces(whole: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [0, ...[...cuts].sort((a, b) => a - b), whole.length]
  return places.slice(1).map((place, index) => whole.subarray(places[index], place))
}

describe('frames', () => {
  it('LN-09 whatever is framed comes out again, in order, wherever the stream is cut', () => {
    const messages = fc.array(fc.record({ type: fc.string(), text: fc.string({ unit: 'binary' }), list: fc.array(fc.integer()) }), { maxLength: 8 })
    fc.assert(
      fc.property(messages, fc.array(fc.nat()), (sent, places) => {
        const whole = Buffer.concat(sent.map(framed))
        const reader = new FrameReader()
        const received = pieces(
          whole,
          places.map((place) => place % (whole.length + 1)),
        ).flatMap((piece) => reader.push(piece))
        expect(received).toEqual(sent)
      }),
    )
  })

  it('LN-09 a body that is one byte too large is refused before it has come; one of the very size is taken', () => {
    expect(() => new FrameReader(100).push(header(101))).toThrow('a frame of 101 bytes, at most 100 are taken')
    const largest = framed({ text: 'x'.repeat(100 - '{"text":""}'.length) })
    expect(new FrameReader(100).push(largest)).toHaveLength(1)
  })

  it('LN-09 a message that no peer would take is not framed', () => {
    const around = '{"text":""}'.length
    expect(encodeFrame({ text: 'x'.repeat(FRAME_BYTES - around) })).toHaveLength(FRAME_BYTES + 4)
    expect(encodeFrame({ text: 'x'.repeat(FRAME_BYTES - around + 1) })).toBeUndefined()
    // Bytes count, not characters.
    expect(encodeFrame({ text: '€'.repeat(FRAME_BYTES / 2) })).toBeUndefined()
  })

  it.each(['', '{', 'null x', '\u0000'])('LN-09 a body that is no JSON (%j) is refused', (body) => {
    expect(() => new FrameReader().push(Buffer.concat([header(Buffer.byteLength(body)), Buffer.from(body)]))).toThrow(SyntaxError)
  })

  it('LN-09 garbage is refused or waited for, and never held beyond one frame', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 50 }), (chunks) => {
        const reader = new FrameReader(256)
        let held = 0
        for (const chunk of chunks) {
          try {
            if (reader.push(Buffer.from(chunk)).length > 0) return
          } catch {
            return
          }
          held += chunk.length
          expect(held).toBeLessThan(4 + 256 + 64)
        }
      }),
    )
  })
})

describe('messages', () => {
  it.each([null, 1, 'spawn', [], {}, { type: 'no such' }, { type: 'hello' }])('LN-09 %j is of neither side', (said) => {
    expect(() => hostMessage(said)).toThrow('not of the protocol')
    expect(() => launcherMessage(said)).toThrow('not of the protocol')
  })

  it('LN-09 what one side says the other does not', () => {
    expect(() => hostMessage({ type: 'started' })).toThrow('not of the protocol')
    expect(() => launcherMessage({ type: 'spawn' })).toThrow('not of the protocol')
    expect(hostMessage({ type: 'ping' })).toEqual({ type: 'ping' })
    expect(launcherMessage({ type: 'pong' })).toEqual({ type: 'pong' })
  })

  it('LN-08 an error of the platform arrives with its name, message and facts, and as an Error', () => {
    const facts = { code: 'ENOENT', errno: -2, syscall: 'spawn x', path: 'x', spawnargs: ['a', 'b'] }
    const raised = Object.assign(new Error('spawn x ENOENT'), facts)
    const told = toError(JSON.parse(JSON.stringify(toPlatformError(raised))))
    expect(told).toBeInstanceOf(Error)
    expect({ ...told }).toEqual(facts)
    expect([told.name, told.message]).toEqual(['Error', 'spawn x ENOENT'])
  })

  it('LN-08 the name of an error is kept, as a property that is not listed; what is no error becomes one', () => {
    const told = toError(JSON.parse(JSON.stringify(toPlatformError(Object.assign(new TypeError('bad'), { code: 'ERR_INVALID_ARG_VALUE' })))))
    expect([told.name, Object.keys(told)]).toEqual(['TypeError', ['code']])
    expect(toError(toPlatformError('a word'))).toMatchObject({ name: 'Error', message: 'a word' })
  })
})
