import type { Offsets, OutputChunk } from '@tenon/jobs'
import { firstBytes } from './clip.ts'

/** As much of a line is looked at. */
const LINE_BYTES = 4_096

/** A return within a line begins it anew, as progress bars do; the last character may be half of an end of line. */
const END_OF_LINE = /(\r\n|\n|\r(?!$))/

interface Unfinished {
  /** What is looked at of it. */
  readonly text: string
  /** It began before what is followed, and what would be looked at of it has been read. */
  readonly isRest: boolean
}

/** The lines of a job's output as they come, of each channel on its own: those of which something is unread, from their beginning. */
export class Lines {
  /** Where to follow from: that far before what is unread that the line which was begun there is seen whole, if it is looked at at all. */
  readonly begin: Offsets
  readonly #unread: Offsets
  readonly #unfinished = new Map<string, Unfinished>()

  /** @param unread where what is unread begins */
  constructor(unread: Offsets = {}) {
    this.#unread = unread
    this.begin = Object.fromEntries(Object.entries(unread).map(([channel, offset]) => [channel, Math.max(0, offset - LINE_BYTES - 1)]))
  }

  /** What there is to look at now: lines that were finished, and the unfinished ones as far as they go. */
  add(chunks: readonly OutputChunk[]): readonly string[] {
    return chunks.flatMap((chunk) => this.#add(chunk))
  }

  #add({ channel, at, text, dropped }: OutputChunk): readonly string[] {
    // After a gap nobody knows what the line began with.
    const before = dropped > 0 ? undefined : this.#unfinished.get(channel)
    const isRest = before?.isRest ?? (dropped === 0 && at > 0 && at === this.begin[channel])
    const begun = before?.text ?? ''
    // Each line and what ended it, in turn.
    const pieces = (begun + text).split(END_OF_LINE)
    const seen: string[] = []
    let end = at - Buffer.byteLength(begun)
    for (let index = 0; index < pieces.length; index += 2) {
      const [piece = '', ending] = pieces.slice(index, index + 2)
      const line: Unfinished = { text: firstBytes(piece, LINE_BYTES), isRest: index === 0 && isRest }
      end += Buffer.byteLength(piece + (ending ?? ''))
      if (ending === undefined) this.#unfinished.set(channel, line)
      if (line.isRest || end <= (this.#unread[channel] ?? -1)) continue
      if (ending !== undefined) seen.push(line.text)
      else if (line.text !== '') seen.push(line.text.replace(/\r$/, ''))
    }
    return seen
  }
}
