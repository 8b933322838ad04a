import { readdirSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isOutOfDescriptors, SpareDescriptor } from '../src/spare-descriptor.ts'

function refusal(code: string): Error {
  return Object.assign(new Error(code), { code })
}

/** A step that finds no descriptor the first `times`. */
function refused(times: number, code = 'EMFILE'): () => string {
  let left = times
  return () => {
    if (left-- > 0) throw refusal(code)
    return 'done'
  }
}

function held(): SpareDescriptor {
  const spare = new SpareDescriptor()
  spare.hold()
  onTestFinished(() => spare.release())
  return spare
}

describe('a spare descriptor', () => {
  it.each(['EMFILE', 'ENFILE'])('SP-04 is a second attempt for a step that met %s, each time anew, and not a third', (code) => {
    const spare = held()
    expect([spare.lend(refused(1, code)), spare.lend(refused(1, code))]).toEqual(['done', 'done'])
    expect(() => spare.lend(refused(2, code))).toThrow(code)
    expect(spare.lend(refused(1, code))).toBe('done')
  })

  it('SP-04 is none for other faults, and where it is not held', () => {
    expect(() => held().lend(refused(1, 'ENOENT'))).toThrow('ENOENT')
    expect(() => new SpareDescriptor().lend(refused(1))).toThrow('EMFILE')
    const released = held()
    released.release()
    expect(() => released.lend(refused(1))).toThrow('EMFILE')
  })

  it.runIf(process.platform === 'linux')('SP-36 is one descriptor while it is held, free while it is lent, and none afterwards', () => {
    const open = (): number => readdirSync('/proc/self/fd').length
    const before = open()
    const spare = new SpareDescriptor()
    spare.hold()
    spare.hold()
    const during = open()
    let attempts = 0
    const lent = spare.lend(() => {
      if (attempts++ === 0) throw refusal('EMFILE')
      return open()
    })
    const after = open()
    spare.release()
    spare.release()
    expect([during, lent, after, open()]).toEqual([before + 1, before, before + 1, before])
  })

  it('SP-04 a fault without a code is none of descriptors', () => {
    expect([new Error('EMFILE'), refusal('EMFILE'), 'EMFILE'].map(isOutOfDescriptors)).toEqual([false, true, false])
  })
})
