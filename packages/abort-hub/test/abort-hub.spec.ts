import { getEventListeners } from 'node:events'
import { expect, it, onTestFinished } from 'vitest'
import { AbortHub } from '../src/abort-hub.ts'

it('many that follow one signal are one listener of it, each is called once with the reason, and none when nobody follows', () => {
  const hub = new AbortHub()
  const controller = new AbortController()
  const called: [number, unknown][] = []
  const leaves = Array.from({ length: 500 }, (_, n) => hub.on(controller.signal, (reason) => called.push([n, reason])))
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  for (const leave of leaves.slice(3)) leave()
  leaves[3]?.()
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1)
  controller.abort('why')
  for (const leave of leaves) leave()
  expect(called).toEqual([0, 1, 2].map((n) => [n, 'why']))
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
})

it('the same function twice is two followers, and one that is taken back while others are called is not called', () => {
  const hub = new AbortHub()
  const controller = new AbortController()
  const called: string[] = []
  const twice = (): void => void called.push('twice')
  const leaveOne = hub.on(controller.signal, twice)
  hub.on(controller.signal, twice)
  leaveOne()
  hub.on(controller.signal, () => leaveLast())
  const leaveLast = hub.on(controller.signal, () => called.push('last'))
  controller.abort()
  expect(called).toEqual(['twice'])
})

it('when all have gone the signal is free, and the next follower listens anew', () => {
  const hub = new AbortHub()
  const controller = new AbortController()
  for (let count = 0; count < 100; count++) hub.on(controller.signal, () => expect.unreachable())()
  expect(getEventListeners(controller.signal, 'abort')).toEqual([])
  let called = 0
  hub.on(controller.signal, () => called++)
  controller.abort()
  expect(called).toBe(1)
})

it('nobody is called for a signal that has aborted', () => {
  const hub = new AbortHub()
  const leave = hub.on(AbortSignal.abort(), () => expect.unreachable())
  leave()
})

it('a follower that throws is an uncaught error, and stops no other', async () => {
  const hub = new AbortHub()
  const controller = new AbortController()
  const others = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException')
    for (const other of others) process.on('uncaughtException', other)
  })
  const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve))
  const fault = new Error('of a follower')
  let called = 0
  hub.on(controller.signal, () => {
    throw fault
  })
  hub.on(controller.signal, () => called++)
  controller.abort()
  expect([called, await uncaught]).toEqual([1, fault])
})
