import { getEventListeners } from 'node:events'
import { AbortHub } from '@tenon/abort-hub'
import { describe, expect, it } from 'vitest'
import { FirstCause } from '../src/first-cause.ts'

describe('the first cause', () => {
  const cause = (signal?: AbortSignal): FirstCause => {
    const first = new FirstCause(signal, new AbortHub())
    first.arm(60_000)
    return first
  }

  it.each([
    ['deadline', 'abort', 'kill'],
    ['abort', 'kill', 'deadline'],
    ['kill', 'deadline', 'abort'],
  ] as const)('SH-08 is %s, and %s and %s after it change nothing', (first, ...others) => {
    const controller = new AbortController()
    const recorded: string[] = []
    const one = cause(controller.signal)
    one.onRecorded((each) => recorded.push(each))
    expect([first, ...others].map((each) => one.record(each))).toEqual([true, true, true])
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    controller.abort()
    expect([one.recorded, recorded]).toEqual([first, [first]])
    one.close()
    expect([one.record('kill'), one.recorded]).toEqual([false, first])
  })

  it('SH-08 is none once the end was observed', () => {
    const controller = new AbortController()
    const one = cause(controller.signal)
    one.onRecorded(() => expect.unreachable())
    one.close()
    controller.abort()
    expect([one.record('kill'), one.record('deadline'), one.recorded]).toEqual([false, false, undefined])
  })
})
