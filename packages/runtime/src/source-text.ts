import { dirname } from 'node:path'
import { LineCounter } from 'yaml'

/** A text with a name: a catalog file, or what was written on the command line. */
export class SourceText {
  /** Absolute path, or a label such as `--set`. */
  readonly path: string
  readonly text: string
  /** What relative paths in it start at. */
  readonly folder: string
  readonly lines = new LineCounter()

  constructor(path: string, text: string, folder = dirname(path)) {
    this.path = path
    this.text = text
    this.folder = folder
  }

  /** Counted from 1; columns in UTF-16 units, as editors and language servers count. */
  position(offset: number): { readonly line: number; readonly column: number } {
    const { line, col } = this.lines.linePos(Math.min(Math.max(offset, 0), this.text.length))
    return line === 0 ? { line: 1, column: offset + 1 } : { line, column: col }
  }

  /** The line that holds `offset`, without its end. */
  lineAt(offset: number): string {
    const start = this.text.lastIndexOf('\n', offset - 1) + 1
    const end = this.text.indexOf('\n', start)
    return this.text.slice(start, end === -1 ? undefined : end).replace(/\r$/, '')
  }
}

/** A stretch of a source, as offsets; `end` is exclusive. */
export interface Place {
  readonly source: SourceText
  readonly start: number
  readonly end: number
}

export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

export function positionOf(place: Place): Position {
  return { file: place.source.path, ...place.source.position(place.start) }
}
