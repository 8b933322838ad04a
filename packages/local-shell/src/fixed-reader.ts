import { type OutputRead, type OutputReader, validateRead } from '@tenon/subprocess'

/** The stream of a process that never ran: a finished text. */
export function fixedReader(text: string): OutputReader {
  const bytes = Buffer.from(text)
  return {
    size: () => bytes.length,
    earliest: () => 0,
    finished: true,
    spillPath: undefined,
    readFrom: (byteOffset, maxBytes) => {
      validateRead(byteOffset, maxBytes)
      return read(bytes, byteOffset, maxBytes ?? bytes.length)
    },
    release: () => undefined,
    changed: async (afterOffset) => bytes.length > afterOffset,
  }
}

function read(bytes: Buffer, byteOffset: number, maxBytes: number): OutputRead {
  if (byteOffset >= bytes.length) return { text: '', startOffset: byteOffset, nextOffset: byteOffset, lossy: false }
  const startOffset = boundary(bytes, byteOffset, 1)
  const nextOffset = startOffset + maxBytes >= bytes.length ? bytes.length : boundary(bytes, startOffset + maxBytes, -1)
  return { text: bytes.toString('utf8', startOffset, nextOffset), startOffset, nextOffset, lossy: false }
}

/** The nearest start of a character, in the given direction. */
function boundary(bytes: Buffer, offset: number, step: 1 | -1): number {
  let at = offset
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += step
  return at
}
