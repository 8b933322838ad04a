import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { AbortListeners } from '../src/abort-listeners.ts'
import { FirstCause } from '../src/first-cause.ts'

describe('many that wait on one signal', () => {
  it('SH-18 are one listener of it, each called once, and none when nobody waits', () => {
    const listeners = new AbortListeners()
    const controller = new AbortController()
    const called: number[] = []
    const removes = Array.from({ length: 500 }, (_, n) => listeners.add(controller.signal, () => called.push(n)))
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    for (const remove of removes.slice(3)) remove()
    removes[3]?.()
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
    controller.abort()
    expect(called).toEqual([0, 1, 2])
    for (const remove of removes) remove()
    expect([called, getEventListeners(controller.signal, 'abort')]).toEqual([[0, 1, 2], []])
  })

  it('SH-18 the same function twice is two that wait, and one that goes while others are called is not called', () => {
    const listeners = new AbortListeners()
    const controller = new AbortController()
    const called: string[] = []
    const twice = (): void => void called.push('twice')
    const removeOne = listeners.add(controller.signal, twice)
    listeners.add(controller.signal, twice)
    removeOne()
    listeners.add(controller.signal, () => removeLast())
    const removeLast = listeners.add(controller.signal, () => called.push('last'))
    controller.abort()
    expect(called).toEqual(['twice'])
  })

  it('SH-18 when all have gone the signal is free, and the next one listens anew', () => {
    const listeners = new AbortListeners()
    const controller = new AbortController()
    for (let count = 0; count < 100; count++) listeners.add(controller.signal, () => expect.unreachable())()
    expect(getEventListeners(controller.signal, 'abort')).toEqual([])
    let called = 0
    listeners.add(controller.signal, () => called++)
    controller.abort()
    expect(called).toBe(1)
  })
})

describe('the first cause', () => {
  const cause = (signal?: AbortSignal): FirstCause => new FirstCause(60_000, signal, new AbortListeners())

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
