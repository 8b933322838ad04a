// biome-ignore-all lint/suspicious/noControlCharactersInRegex: control characters are what this file is about.
import { stripVTControlCharacters } from 'node:util'

/** Strings that a terminal acts on: OSC (titles, links, the clipboard), DCS, SOS, PM, APC; in their 7-bit and 8-bit forms. */
const STRINGS = /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g
/** What is left when a sequence was malformed: without these characters it is text. Newline and tab stay. */
const LEFT_OVER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g
/** The beginning of a sequence that may go on in the next piece, or of a line end. */
const UNFINISHED =
  /(?:(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*\u001b?|(?:\u001b\[|\u009b)[0-?]*[ -/]*|\u001b[ -/]*|\r)$/
/** A string that has not ended by then never will. */
const LONGEST_HELD = 4096

/**
 * Text as it may be shown to a person: no control sequence reaches the terminal, whoever wrote it. A carriage return alone becomes
 * a newline, so that what was overwritten stays to be seen.
 */
export function plainText(text: string): string {
  const lines = text.replace(STRINGS, '').replace(/\r+\n/g, '\n').replace(/\r/g, '\n')
  return stripVTControlCharacters(lines).replace(LEFT_OVER, '')
}

/** The same for text that comes in pieces, whose sequences may be split anywhere. */
export class PlainTextStream {
  #held = ''

  /** What can be shown now. */
  push(piece: string): string {
    const text = this.#held + piece
    const start = text.match(UNFINISHED)?.index ?? text.length
    const waits = text.length - start <= LONGEST_HELD
    this.#held = waits ? text.slice(start) : ''
    return plainText(waits ? text.slice(0, start) : text)
  }

  /** What was held back, now that nothing follows. */
  end(): string {
    const rest = plainText(this.#held.replace(UNFINISHED, (match) => (match === '\r' ? '\n' : '')))
    this.#held = ''
    return rest
  }
}

/** JSON that is safe on a terminal too: `JSON.stringify` leaves DEL and the 8-bit controls as they are. */
export function printableJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(/[\u007f-\u009f]/g, (character) => `\\u00${character.charCodeAt(0).toString(16)}`)
}
