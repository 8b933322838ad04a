import type { ShellRead } from '@tenon/shell'
import type { OutputReader } from '@tenon/subprocess'

/** Remembers what was delivered of each stream. Reading costs what the delta costs, whatever the size of the stream. */
export class ConsumingRead {
  readonly #stdout: Cursor
  readonly #stderr: Cursor

  constructor(stdoutMaxBytes: number, stderrMaxBytes: number) {
    this.#stdout = { offset: 0, maxBytes: stdoutMaxBytes }
    this.#stderr = { offset: 0, maxBytes: stderrMaxBytes }
  }

  /** Never throws. */
  next(readers: { readonly stdout: OutputReader; readonly stderr: OutputReader }): ShellRead {
    const out = advance(this.#stdout, readers.stdout)
    const err = advance(this.#stderr, readers.stderr)
    let delta = out.text
    if (err.text !== '') delta += `${delta === '' || delta.endsWith('\n') ? '' : '\n'}[stderr]\n${err.text}`
    return {
      delta,
      lossy: out.lossy || err.lossy,
      ...(out.spillPath !== undefined && { stdoutSpillPath: out.spillPath }),
      ...(err.spillPath !== undefined && { stderrSpillPath: err.spillPath }),
    }
  }
}

interface Cursor {
  offset: number
  readonly maxBytes: number
}

interface Advance {
  readonly text: string
  readonly lossy: boolean
  readonly spillPath?: string
}

function advance(cursor: Cursor, reader: OutputReader): Advance {
  try {
    // Everything within the budget is still in memory: a consuming read never goes to the disk.
    const from = Math.max(cursor.offset, reader.size() - cursor.maxBytes)
    const read = reader.readFrom(from, cursor.maxBytes)
    const lossy = from > cursor.offset || read.lossy || read.error !== undefined
    if (read.error === undefined) cursor.offset = read.nextOffset
    const spillPath = lossy ? reader.spillPath : undefined
    return { text: read.text, lossy, ...(spillPath !== undefined && { spillPath }) }
  } catch {
    // The offset stays where it is, so the next call tries again; saying nothing would be "no output".
    return { text: '', lossy: true }
  }
}
