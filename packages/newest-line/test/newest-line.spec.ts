import { NewestLine } from '@tenon/newest-line'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

const noisy = () => {
  const told: string[] = []
  const newest = new NewestLine((line) => told.push(line))
  let output = ''
  let reads = 0
  const write = (text: string): void => {
    output += text
    newest.grown(() => {
      reads++
      return output
    })
  }
  return { told, newest, write, reads: () => reads }
}

describe('the newest line', () => {
  it('TB-28 is told at once, then at most four times a second, and read only when it is due', () => {
    const { told, newest, write, reads } = noisy()
    write('one\n')
    write('two\nthr')
    write('ee')
    expect([told, reads()]).toEqual([['one'], 1])
    vi.advanceTimersByTime(249)
    expect(reads()).toBe(1)
    vi.advanceTimersByTime(1)
    expect([told, reads()]).toEqual([['one', 'three'], 2])
    vi.advanceTimersByTime(250)
    expect(vi.getTimerCount()).toBe(0)
    write('\n\n \n')
    write('four')
    expect(told).toEqual(['one', 'three', 'four'])
    newest.end()
  })

  it.each([
    ['a progress bar', '10 %\r20 %\r', '20 %'],
    ['an end of line of Windows', 'a\r\nb\r\n', 'b'],
    ['a long line', '🦀'.repeat(201), `${'🦀'.repeat(199)}…`],
    ['a line of the longest length', 'é'.repeat(200), 'é'.repeat(200)],
    ['spaces around it', '\n  x y  \n', 'x y'],
  ])('TB-28 of %s', (_what, text, line) => {
    const { told, newest, write } = noisy()
    write(text)
    expect(told).toEqual([line])
    newest.end()
  })

  it('TB-28 after the end nothing is told, no timer is left, and who watches is told', () => {
    const { told, newest, write } = noisy()
    write('one\n')
    write('two\n')
    newest.end()
    expect(newest.signal.aborted).toBe(true)
    expect(vi.getTimerCount()).toBe(0)
    write('three\n')
    newest.end()
    expect(told).toEqual(['one'])
  })

  it('TB-28 a read that fails ends the reports, at once or when it is due', () => {
    const fails = (): never => {
      throw new Error('no disk')
    }
    const [first, second] = [noisy(), noisy()]
    first.newest.grown(fails)
    second.write('one\n')
    second.newest.grown(fails)
    expect([first, second].map(({ newest }) => newest.signal.aborted)).toEqual([true, false])
    vi.advanceTimersByTime(250)
    expect(second.newest.signal.aborted).toBe(true)
    expect(second.told).toEqual(['one'])
  })

  it('TB-28 a report that fails ends the reports, and leaves no timer', () => {
    const newest = new NewestLine(() => {
      throw new Error('nobody listens')
    })
    newest.grown(() => 'one')
    expect(newest.signal.aborted).toBe(true)
  })
})
