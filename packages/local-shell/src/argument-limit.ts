/** Linux refuses one argument of 128 KiB (MAX_ARG_STRLEN); the rest is room for what the dialect puts around the text. Bytes of UTF-8. */
const POSIX_MAX_BYTES = 96 * 1024

/** CreateProcess takes a command line of 32,767 UTF-16 units in all, the program's path and its options included. */
const WINDOWS_MAX_UNITS = 24_000

/** Whether a text can be one argument of a new process. Pure. */
export function fitsArgument(text: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return text.length <= WINDOWS_MAX_UNITS && quotedLength(text) <= WINDOWS_MAX_UNITS
  return text.length <= POSIX_MAX_BYTES && Buffer.byteLength(text) <= POSIX_MAX_BYTES
}

/** Length as Node puts it on a command line: within quotes if need be, each quote escaped, and each backslash of a run before one. */
function quotedLength(text: string): number {
  if (text !== '' && !/[ \t"]/.test(text)) return text.length
  let length = text.length + 2
  let backslashes = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') backslashes++
    else {
      if (text[at] === '"') length += backslashes + 1
      backslashes = 0
    }
  }
  return length + backslashes
}
