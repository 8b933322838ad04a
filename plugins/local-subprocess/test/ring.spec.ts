import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LOOK_BACK_BYTES, Ring } from '../src/output/ring.ts'

function held(ring: Ring): Buffer {
  const target = Buffer.alloc(ring.end - ring.start)
  ring.copy(ring.start, ring.end, target, 0)
  return target
}

it('SP-22 the tail is byte-exact for any chunking, one oversized chunk included', () => {
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 5_000 }), { maxLength: 40 })
  fc.assert(
    fc.property(fc.integer({ min: 4, max: 3_000 }), chunks, (maxBytes, parts) => {
      const ring = new Ring(maxBytes)
      for (const part of parts) ring.append(Buffer.from(part))
      const whole = Buffer.concat(parts)
      expect(ring.end).toBe(whole.length)
      expect(ring.end - ring.start).toBe(Math.min(whole.length, maxBytes + LOOK_BACK_BYTES))
      expect(held(ring).equals(whole.subarray(ring.start))).toBe(true)
    }),
  )
})

it('trimming keeps the bytes, and appending goes on after it', () => {
  const ring = new Ring(10_000)
  const whole = Buffer.from(Array.from({ length: 30_000 }, (_, index) => index % 251))
  let taken = 0
  for (const length of [3, 700, 900, 9_000, 400, 12_000]) {
    ring.append(whole.subarray(taken, taken + length))
    taken += length
    ring.trim()
    expect(held(ring).equals(whole.subarray(ring.start, taken))).toBe(true)
  }
})

it('copies any range it holds', () => {
  const ring = new Ring(13)
  const whole = Buffer.from('abcdefghijklmnopqrstuvwxyz')
  for (const byte of whole) ring.append(Buffer.from([byte]))
  for (let from = ring.start; from <= ring.end; from++) {
    for (let to = from; to <= ring.end; to++) {
      const target = Buffer.alloc(to - from)
      ring.copy(from, to, target, 0)
      expect(target.toString()).toBe(whole.toString('utf8', from, to))
    }
  }
})
