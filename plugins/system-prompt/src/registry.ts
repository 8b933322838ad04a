import { Announcer } from '@tenon/announcer'
import type { Emitter, Logger, Reconciling, Scope } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import type { AssembledPrompt, PromptSection, SystemPrompt } from '@tenon/system-prompt'
import { Assembly } from './assembly.ts'
import type { SystemPromptConfig } from './config.ts'
import type { KeptPrompt } from './kept.ts'
import { readSection } from './section.ts'
import { SectionStacks } from './section-stacks.ts'

/** One activation's view of what the row keeps; one of an earlier activation keeps working. */
export class SectionRegistry implements SystemPrompt {
  readonly changed: Emitter<{ readonly epoch: number }>
  readonly #stacks: SectionStacks
  readonly #assembly: Assembly

  constructor(scope: Scope, kept: KeptPrompt, config: SystemPromptConfig, log: Logger, reconciling: Reconciling) {
    this.changed = kept.changed
    this.#stacks = new SectionStacks(kept, log)
    this.#assembly = new Assembly(config.sectionBudgetMs, log)
    const announcer = new Announcer(scope, reconciling, config.reconcileWaitMs, () => {
      const change = this.#stacks.takeChange()
      if (change !== undefined) this.changed.emit(change)
    })
    kept.touched = () => announcer.touch()
    // What the activation before this one left unannounced.
    announcer.touch()
  }

  section(scope: Scope, section: PromptSection): void {
    this.#stacks.add(scope, readSection(section, scope.name))
  }

  assemble(session: Session, signal?: AbortSignal): Promise<AssembledPrompt> {
    return this.#assembly.assemble(this.#stacks.visible(), session, signal)
  }
}
