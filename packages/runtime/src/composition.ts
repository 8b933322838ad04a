import type { Json } from '@tenon/kernel'
import type { LoadedPlugin } from './plugin-loader.ts'
import type { Position } from './source-text.ts'

/** What a catalog file means here and now: its layers merged, expressions replaced, plugins loaded. */
export interface Composition {
  readonly name: string
  /** Absolute path of the catalog file. */
  readonly file: string
  /** The catalog file and all it extends. */
  readonly files: readonly string[]
  /** By id, so that the order of the file means nothing. */
  readonly rows: readonly CompositionRow[]
}

export interface CompositionRow {
  readonly id: string
  /** As written. */
  readonly use: string
  readonly position: Position
  /** Its failure fails neither boot nor an edit. */
  readonly optional: boolean
  /** `skipped`: its `when` does not match. `broken`: a diagnostic says why. */
  readonly state: 'active' | 'disabled' | 'skipped' | 'broken'
  /** Why it is not active. */
  readonly why?: string
  /** Of an active row. */
  readonly loaded?: LoadedPlugin
  /** As written, before the plugin's schema fills in defaults; undefined without `with`. */
  readonly config: Json | undefined
  /** Every effective value of the row and where it was written. */
  readonly origins: readonly Origin[]
}

export interface Origin extends Position {
  /** `use`, `with.timeoutMs`, … */
  readonly path: string
  readonly value: Json
}
