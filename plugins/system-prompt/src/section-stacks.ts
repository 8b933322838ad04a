import type { Logger, Scope } from '@tenon/kernel'
import type { KeptPrompt, Sections } from './kept.ts'
import { compareSections, type Section, sameSection } from './section.ts'

/** Stacks of sections by name, and the list of what is on top. */
export class SectionStacks {
  readonly #kept: KeptPrompt
  readonly #log: Logger

  constructor(kept: KeptPrompt, log: Logger) {
    this.#kept = kept
    this.#log = log
  }

  add(scope: Scope, section: Section): void {
    const { name, owner } = section
    // Before the registration: a closed scope runs the undo at once and throws.
    scope.defer(() => this.#remove(section))
    const stack = this.#kept.stacks.get(name)
    if (stack === undefined) this.#kept.stacks.set(name, [section])
    else {
      const covered = stack.at(-1)?.owner
      if (covered !== undefined && covered !== owner) {
        this.#log.info({ section: name, owner, covered }, `section "${name}" of "${owner}" covers that of "${covered}"`)
      }
      stack.push(section)
    }
    this.#touch()
  }

  /** The same object until something an assembly can see has changed. */
  visible(): Sections {
    const kept = this.#kept
    if (!kept.stale) return kept.visible
    kept.stale = false
    const list = [...kept.stacks.values()].flatMap((stack) => stack.at(-1) ?? []).sort(compareSections)
    const known = [kept.visible, kept.announced].find((sections) => sameList(sections.list, list))
    if (known === undefined) kept.lastEpoch++
    kept.visible = known ?? Object.freeze({ epoch: kept.lastEpoch, list: Object.freeze(list) })
    return kept.visible
  }

  /** The epoch to announce, if there is a new one since the last call. */
  takeChange(): { readonly epoch: number } | undefined {
    const now = this.visible()
    if (now === this.#kept.announced) return undefined
    this.#kept.announced = now
    return Object.freeze({ epoch: now.epoch })
  }

  #remove(section: Section): void {
    const stack = this.#kept.stacks.get(section.name)
    const at = stack?.indexOf(section) ?? -1
    if (stack === undefined || at < 0) return
    const wasVisible = at === stack.length - 1
    stack.splice(at, 1)
    if (stack.length === 0) this.#kept.stacks.delete(section.name)
    if (wasVisible) this.#touch()
  }

  #touch(): void {
    this.#kept.stale = true
    this.#kept.touched()
  }
}

function sameList(left: readonly Section[], right: readonly Section[]): boolean {
  return left.length === right.length && left.every((section, index) => sameSection(section, right[index] as Section))
}
