import { describe, expect, it } from 'vitest'
import { Lines } from '../src/lines.ts'
import { compile, Matcher } from '../src/matcher.ts'
import { chunk } from './job-read.ts'

describe('lines', () => {
  it('come one by one, the unfinished one as far as it goes, each channel on its own', () => {
    const lines = new Lines()
    expect(lines.add([chunk('stdout', 'a\nb')])).toEqual(['a', 'b'])
    expect(lines.add([chunk('stderr', 'x'), chunk('stdout', 'c\r\n\nd')])).toEqual(['x', 'bc', '', 'd'])
    expect(lines.add([chunk('stderr', '\n')])).toEqual(['x'])
    expect(lines.add([chunk('stdout', 'e', { dropped: 9 })])).toEqual(['e'])
  })

  it('begin anew after a return, which may be half of an end of line', () => {
    const lines = new Lines()
    expect(lines.add([chunk('stdout', '10%\r50%\r')])).toEqual(['10%', '50%'])
    expect(lines.add([chunk('stdout', '100%\r')])).toEqual(['50%', '100%'])
    expect(lines.add([chunk('stdout', '\nnext\r\n')])).toEqual(['100%', 'next'])
  })

  it('JB-64 of which something is unread are seen whole: what was read of one before is not all there is to it', () => {
    const lines = new Lines({ stdout: 11, stderr: 4 })
    expect(lines.begin).toEqual({ stdout: 0, stderr: 0 })
    expect(lines.add([chunk('stdout', 'old\nServer ready\nnext\n')])).toEqual(['Server ready', 'next'])
    expect(lines.add([chunk('stderr', 'read'), chunk('stderr', ' on', { at: 4 })])).toEqual(['read on'])
    expect(new Lines({ stdout: 0 }).add([chunk('stdout', '\nä')])).toEqual(['', 'ä'])
    expect(new Lines({ stdout: 5 }).add([chunk('stdout', 'a\r\nä\r\n')])).toEqual(['ä'])
  })

  it('JB-64 of which as much was read as is looked at are not seen again, and what follows them is', () => {
    const lines = new Lines({ stdout: 5_000 })
    expect(lines.begin).toEqual({ stdout: 903 })
    expect(lines.add([chunk('stdout', 'x'.repeat(4_097), { at: 903 })])).toEqual([])
    expect(lines.add([chunk('stdout', 'the rest', { at: 5_000 })])).toEqual([])
    expect(lines.add([chunk('stdout', ' of it\nready', { at: 5_008 })])).toEqual(['ready'])
    // What is followed was thrown away meanwhile: then this is all there is.
    expect(new Lines({ stdout: 5_000 }).add([chunk('stdout', 'tail\n', { at: 5_100, dropped: 4_197 })])).toEqual(['tail'])
  })

  it('are looked at up to 4,096 bytes', () => {
    const lines = new Lines()
    const [line] = lines.add([chunk('stdout', 'ä'.repeat(3_000))])
    expect(line).toBe('ä'.repeat(2_048))
    expect(lines.add([chunk('stdout', 'more')])).toEqual([line])
    expect(lines.add([chunk('stdout', '\nnext')])).toEqual([line, 'next'])
  })
})

describe('a pattern', () => {
  it.each([
    ['(', /^invalid until: Invalid regular expression/],
    ['', /^invalid until: expected a pattern that is not empty$/],
    ['x'.repeat(201), /^invalid until: longer than 200 characters$/],
  ])('JB-65 %j is refused', (until, message) => {
    expect(() => compile(until)).toThrow(expect.objectContaining({ code: 'TOOL_ARGUMENTS', message: expect.stringMatching(message) }))
  })

  it('finds the first line that matches', async () => {
    const matcher = new Matcher()
    expect(await matcher.find(compile('^b'), ['ab', 'bc', 'bd'])).toBe('bc')
    expect(await matcher.find(compile('z'), ['ab'])).toBeUndefined()
    expect(await matcher.find(compile('x'.repeat(200)), ['x'.repeat(300)])).toHaveLength(300)
    expect(await matcher.find(compile('^$'), ['a', ''])).toBe('')
  })

  it.each(['^(a+)+$', '(x+x+)+y', '((((((a*)*)*)*)*)*)*b', `${'(.*)*'.repeat(30)}x`])(
    'JB-65 %s is interrupted: nobody waits longer than some fifty milliseconds for a turn, and the next is evaluated as ever',
    async (until) => {
      const matcher = new Matcher()
      const lines = [`${'a'.repeat(4_000)}!`, 'x'.repeat(60)]
      // Of the processor, not of the clock: other programs run as well. Without a bound one turn would take years.
      let [longest, last] = [0, process.cpuUsage()]
      const turn = (): void => {
        const { user, system } = process.cpuUsage(last)
        longest = Math.max(longest, (user + system) / 1_000)
        last = process.cpuUsage()
        immediate = setImmediate(turn)
      }
      let immediate = setImmediate(turn)
      const found = matcher.find(compile(until), lines)
      await expect(found).rejects.toMatchObject({
        code: 'TOOL_ARGUMENTS',
        message: expect.stringMatching(/^until took too long to match$|^invalid until: /),
      })
      await new Promise((resolve) => setImmediate(resolve))
      clearImmediate(immediate)
      expect(longest).toBeLessThan(200)
      expect(await matcher.find(compile('b'), ['abc'])).toBe('abc')
    },
  )
})
