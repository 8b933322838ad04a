import type { Random } from './random.ts'

/** What a command writes to one stream, known without running it. */
export interface Stream {
  /** Infinity for a flood. */
  readonly bytes: number
  slice(from: number, to: number): Buffer
}

export const MAX_COUNT = 900_000

const counting = Buffer.from(Array.from({ length: MAX_COUNT }, (_, index) => `${index + 1}\n`).join(''))

export function text(written: string): Stream {
  return bytes(Buffer.from(written))
}

export const nothing = text('')

/** Of `seq 1 N`. */
export function counted(upTo: number): Stream {
  const digits = String(upTo).length
  // Each number has its digits and an end of line; those with fewer digits are summed in closed form.
  const length = upTo * (digits + 1) - (10 ** digits - 1) / 9 + digits
  return bytes(counting.subarray(0, length))
}

/** Of `yes`, or of its first bytes. */
export function yes(length = Number.POSITIVE_INFINITY): Stream {
  return { bytes: length, slice: (from, to) => Buffer.alloc(to - from, from % 2 === 0 ? 'y\n' : '\ny') }
}

/** Characters of one to four bytes, without NUL. */
export function manyBytes(random: Random, length: number): string {
  const words = ['a', '≤', 'é', '😀', '\n', '\t', 'Zeile ', '"$`\\', '語'] as const
  let written = ''
  for (const word = random.whole(1, 40); written.length < length; ) written += random.pick(words).repeat(random.whole(1, word))
  return written
}

function bytes(buffer: Buffer): Stream {
  return { bytes: buffer.length, slice: (from, to) => buffer.subarray(from, to) }
}
