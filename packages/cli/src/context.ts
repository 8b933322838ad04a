import type { GeneralFlags, Io } from './io.ts'
import type { Screen } from './screen.ts'

/** What every command works with. */
export interface CommandContext {
  readonly io: Io
  readonly screen: Screen
  readonly flags: GeneralFlags
}

/** Flags of commands that read a composition. */
export interface CompositionFlags {
  readonly set?: readonly string[]
  readonly enable?: readonly string[]
  readonly disable?: readonly string[]
}
