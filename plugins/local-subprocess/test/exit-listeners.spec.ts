import { expect, it, onTestFinished } from 'vitest'
import { onProcessExit } from '../src/exit-listeners.ts'

it('SP-51 however many listen, the process has one listener more, which stands first and tells the latest first', () => {
  const before = process.listeners('exit')
  const calls: number[] = []
  const own = Array.from({ length: 20 }, (_, index) => onProcessExit(() => void calls.push(index)))
  const other = (): void => undefined
  process.prependListener('exit', other)
  onTestFinished(() => void process.off('exit', other))
  own.push(onProcessExit(() => void calls.push(20)))
  const [first, ...rest] = process.listeners('exit')
  expect(rest).toEqual([other, ...before])
  first?.call(process, 0)
  expect(calls).toEqual(Array.from({ length: 21 }, (_, index) => 20 - index))
  for (const forget of own.slice(0, 20)) forget()
  first?.call(process, 0)
  expect(calls.slice(21)).toEqual([20])
  own[20]?.()
  expect(process.listeners('exit')).toEqual([other, ...before])
})
