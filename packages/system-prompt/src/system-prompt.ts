import { capability, type Emitter, type Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'

export interface PromptContext {
  readonly session: Session
  readonly signal: AbortSignal
}

/** Text is taken verbatim: nothing is interpolated. */
export interface PromptSection {
  /** Not blank. Sections of one name stack, the newest live one counts. */
  readonly name: string
  /** Finite. Bands: -100 identity, 0 persona, 100..199 tools. Sections of equal order are sorted by name. */
  readonly order: number
  /** Exactly one of `text` and `render`. */
  readonly text?: string
  /** Evaluated at each assembly, within the provider's budget per section. */
  render?(context: PromptContext): string | Promise<string>
  /** Default false: a failing section is left out and listed. */
  readonly required?: boolean
}

export interface OmittedSection {
  readonly section: string
  /** Who registered it: the row. */
  readonly owner: string
  readonly reason: string
}

export interface AssembledPrompt {
  /** Sections joined by one blank line; the empty ones are dropped. With static sections only, the same string until the epoch changes. */
  readonly text: string
  readonly epoch: number
  readonly omitted: readonly OmittedSection[]
}

/** The prompt text that goes with the composition. Survives the reload of its own plugin: epoch and listeners stay. */
export interface SystemPrompt {
  /** Plugins. @throws PromptError PROMPT_INVALID, KernelError SCOPE_CLOSED */
  section(scope: Scope, section: PromptSection): void
  /** Hosts. Rejects with PromptError PROMPT_SECTION (section and owner named) if a required section fails, or with the signal's reason. */
  assemble(session: Session, signal?: AbortSignal): Promise<AssembledPrompt>
  /** At most once per tick, and held while rows are in transition. */
  readonly changed: Emitter<{ readonly epoch: number }>
}
export const SystemPrompt = capability<SystemPrompt>('system-prompt')
