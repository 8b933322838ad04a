import type { CollectedText } from '@tenon/shell'
import type { OutputReader } from '@tenon/subprocess'

/**
 * What a stream held at this moment, decoded when asked for. A stream that survivors may still write to is read at once, since the
 * tail would slide out of memory under them; one that has ended is read only if somebody asks.
 */
export function captureText(reader: OutputReader, maxBytes: number): () => CollectedText {
  if (reader.finished) return () => collectedText(reader, maxBytes)
  const text = collectedText(reader, maxBytes)
  return () => text
}

/** The last `maxBytes` of the stream so far. Never throws: a capture that cannot be read is a fact of the stream. */
export function collectedText(reader: OutputReader, maxBytes: number): CollectedText {
  let bytes = 0
  try {
    bytes = reader.size()
    const from = Math.max(0, bytes - maxBytes)
    const read = reader.readFrom(from, maxBytes)
    const truncated = from > 0 || read.lossy
    const spillPath = truncated ? reader.spillPath : undefined
    return {
      text: read.text,
      bytes,
      truncated,
      ...(spillPath !== undefined && { spillPath }),
      ...(read.error !== undefined && { error: read.error }),
    }
  } catch (error) {
    return { text: '', bytes, truncated: false, error: error instanceof Error ? error.message : String(error) }
  }
}
