import { Emitter, type KeepSpec } from '@tenon/kernel'
import type { Section } from './section.ts'

/** The visible sections in order. An epoch names a content. */
export interface Sections {
  readonly epoch: number
  readonly list: readonly Section[]
}

/** What outlives a reload of the row. Data only: each activation puts its own code over it. */
export interface KeptPrompt {
  /** Newest last. */
  readonly stacks: Map<string, Section[]>
  /** As of the last look; `stale` says that the stacks have changed since. */
  visible: Sections
  stale: boolean
  /** What listeners know of. */
  announced: Sections
  lastEpoch: number
  readonly changed: Emitter<{ readonly epoch: number }>
  /** Of the live activation: called when a section came or went. */
  touched: () => void
}

export const keptPrompt: KeepSpec<KeptPrompt> = {
  key: 'sections',
  version: 1,
  create() {
    const none: Sections = Object.freeze({ epoch: 0, list: Object.freeze([]) })
    return {
      stacks: new Map(),
      visible: none,
      stale: false,
      announced: none,
      lastEpoch: 0,
      changed: new Emitter<{ readonly epoch: number }>(),
      touched: () => undefined,
    }
  },
  dispose: () => undefined,
}
