// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what this file is about.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { PlainTextStream, plainText, printableJson } from '../src/terminal-text.ts'

const ESC = '\u001b'

it.each([
  ['colours', `${ESC}[1;31mred${ESC}[0m`, 'red'],
  ['clearing the screen and private modes', `${ESC}[2J${ESC}[?25lX`, 'X'],
  ['a title', `${ESC}]0;pwn\u0007X`, 'X'],
  ['the clipboard', `${ESC}]52;c;aGk=${ESC}\\X`, 'X'],
  ['a link', `${ESC}]8;;http://evil${ESC}\\text${ESC}]8;;${ESC}\\`, 'text'],
  ['a device control string', `${ESC}P+q544e${ESC}\\X`, 'X'],
  ['an application command', `${ESC}_Gpayload${ESC}\\X`, 'X'],
  ['8-bit forms', '\u009b31mred\u009d0;title\u009cX\u0090dcs\u009cY', 'redXY'],
  ['a reset', `${ESC}cX`, 'X'],
  ['bell, backspace, delete, NUL', 'a\u0007b\bc\u007fd\u0000e', 'abcde'],
  ['overwriting a line', '10%\r20%\r\ndone\r\n', '10%\n20%\ndone\n'],
  ['nothing of a plain text', 'ü 漢字 🦊\n\ttab\n', 'ü 漢字 🦊\n\ttab\n'],
])('%s', (_, text, shown) => {
  expect(plainText(text)).toBe(shown)
})

it('a sequence split anywhere is not leaked', () => {
  const text = `a${ESC}[1;31mred${ESC}[0m\r\n${ESC}]52;c;aGk=\u0007b${ESC}P+q${ESC}\\c\u009b2Jd${ESC}]0;t${ESC}\\e\rf`
  const whole = plainText(text)
  for (let cut = 0; cut <= text.length; cut++) {
    for (let second = cut; second <= text.length; second++) {
      const stream = new PlainTextStream()
      const shown = stream.push(text.slice(0, cut)) + stream.push(text.slice(cut, second)) + stream.push(text.slice(second)) + stream.end()
      expect(shown).toBe(whole)
    }
  }
})

it('whatever comes, in whatever pieces, no control character but newline and tab gets through', () => {
  const piece = fc.string({
    unit: fc.constantFrom(ESC, '[', ']', '0', ';', 'm', '\\', '\u0007', '\u009b', '\u009c', '\u009d', 'P', '\r', '\n', 'x', '?', ' '),
  })
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const stream = new PlainTextStream()
      const shown = pieces.map((text) => stream.push(text)).join('') + stream.end()
      expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    }),
  )
})

it('a string that never ends is held back only so long', () => {
  const stream = new PlainTextStream()
  expect(stream.push(`${ESC}]0;${'x'.repeat(10_000)}`).length).toBeGreaterThan(9_000)
  expect(stream.push('then text')).toBe('then text')
})

it('JSON holds no control character either', () => {
  const text = printableJson({ a: '\u009b31m\u001b[0m\u007f' })
  expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/)
  expect(JSON.parse(text)).toEqual({ a: '\u009b31m\u001b[0m\u007f' })
})
