import type { OutputChunk } from '@tenon/jobs'
import { firstBytes } from './clip.ts'

/** As much of a line is looked at. */
const LINE_BYTES = 4_096

/** A return within a line begins it anew, as progress bars do; the last character may be half of an end of line. */
const END_OF_LINE = /\r\n|\n|\r(?!$)/

/** The lines of a job's output as they come, of each channel on its own. */
export class Lines {
  readonly #unfinished = new Map<string, string>()

  /** What there is to look at now: lines that were finished, and the unfinished ones as far as they go. */
  add(chunks: readonly OutputChunk[]): readonly string[] {
    return chunks.flatMap(({ channel, text, dropped }) => {
      // After a gap nobody knows what the line began with.
      const begun = dropped > 0 ? '' : (this.#unfinished.get(channel) ?? '')
      const lines = (begun + text).split(END_OF_LINE).map((line) => firstBytes(line, LINE_BYTES))
      const last = lines.pop() ?? ''
      this.#unfinished.set(channel, last)
      return last === '' ? lines : [...lines, last.replace(/\r$/, '')]
    })
  }
}
