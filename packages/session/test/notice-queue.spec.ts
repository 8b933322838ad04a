import { NoticeQueue } from '@tenon/session'
import { describe, expect, it } from 'vitest'

const notice = (n: number) => ({ source: 'test', text: `text ${n}`, summary: `summary ${n}` })
const upTo = (count: number) => Array.from({ length: count }, (_, n) => notice(n))

describe('NoticeQueue', () => {
  it('JB-03 hands out each notice once, in order', () => {
    const queue = new NoticeQueue()
    expect(queue.push(notice(0))).toBe('queued')
    queue.push(notice(1))
    expect(queue.drain()).toEqual([notice(0), notice(1)])
    expect(queue.drain()).toEqual([])
    queue.push(notice(2))
    expect(queue.drain()).toEqual([notice(2)])
  })

  it('JB-03 holds a hundred; beyond that the oldest go and the next drain says how many', () => {
    const queue = new NoticeQueue()
    for (const each of upTo(100)) queue.push(each)
    expect(queue.drain()).toEqual(upTo(100))

    for (const each of upTo(103)) queue.push(each)
    const [first, ...rest] = queue.drain()
    expect(first).toEqual({ source: 'session', text: '[3 earlier notices dropped]', summary: '[3 earlier notices dropped]' })
    expect(rest).toEqual(upTo(103).slice(3))
    expect(queue.drain()).toEqual([])
  })

  it('hands out frozen copies', () => {
    const queue = new NoticeQueue()
    const mine = notice(0)
    queue.push(mine)
    mine.text = 'changed'
    const drained = queue.drain()
    expect(drained).toEqual([notice(0)])
    expect(Object.isFrozen(drained)).toBe(true)
    expect(Object.isFrozen(drained[0])).toBe(true)
  })
})
