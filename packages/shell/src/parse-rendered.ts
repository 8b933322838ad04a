/** Without its exit marker, and what the marker said. */
export interface ParsedRendering {
  readonly body: string
  readonly exitCode: number | null
  readonly signal: string | null
}

/** In place of an exit code. */
export const LOST_MARKER = '[exit status unknown: the launcher was lost]'

const SIGNAL = /\n\[killed by signal: ([^\]\n]+)\]$/
const EXIT = /\n\[exit code: (0|-?[1-9]\d{0,9})\]$/

/**
 * The inverse of `renderResult` for the exit facts. Recognises only a trailing `\n[killed by signal: X]`, `\n[exit code: N]` or
 * `\n[exit status unknown: …]` with no newline after it; without one the exit code is 0 and the text is the body. Body and marker, newline included, are the text.
 *
 * Spoofing: a command can print any marker. A reader of text alone cannot tell one in the body from ours, and text that `renderResult`
 * did not make may parse wrongly. So store a {@link ShellRecord} beside the text, take facts from it, and parse only where none exists.
 */
export function parseRendered(text: string): ParsedRendering {
  // Only the last line matters, and the text may be long: look at nothing else.
  const start = text.lastIndexOf('\n')
  const last = start === -1 ? '' : text.slice(start)
  if (last === `\n${LOST_MARKER}`) return { body: text.slice(0, start), exitCode: null, signal: null }
  const signal = SIGNAL.exec(last)?.[1]
  if (signal !== undefined) return { body: text.slice(0, start), exitCode: null, signal }
  const code = EXIT.exec(last)?.[1]
  if (code !== undefined) return { body: text.slice(0, start), exitCode: Number(code), signal: null }
  return { body: text, exitCode: 0, signal: null }
}
