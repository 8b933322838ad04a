import { isDeepStrictEqual } from 'node:util'
import type { Logger, Scope } from '@tenon/kernel'
import type { ToolsChange, ToolView } from '@tenon/tools'
import type { Definition } from './definition.ts'
import type { KeptTools, Registration, View } from './kept.ts'

/** Stacks of registrations by name, and the view of what is on top. */
export class Catalogue {
  readonly #kept: KeptTools
  readonly #log: Logger

  constructor(kept: KeptTools, log: Logger) {
    this.#kept = kept
    this.#log = log
  }

  add(scope: Scope, definition: Definition): void {
    const { stacks } = this.#kept
    const { name } = definition
    const registration: Registration = { definition, owner: scope.name, view: definition.view }
    // Before the registration: a closed scope runs the undo at once and throws.
    scope.defer(() => this.#remove(name, registration))
    const stack = stacks.get(name)
    if (stack === undefined) stacks.set(name, [registration])
    else {
      const covered = stack.at(-1)
      if (covered !== undefined && covered.owner !== registration.owner) {
        this.#log.info(
          { tool: name, owner: registration.owner, covered: covered.owner },
          `tool "${name}" of "${registration.owner}" covers that of "${covered.owner}"`,
        )
      }
      stack.push(registration)
    }
    this.#touch()
  }

  /** What a call would pin now. */
  visible(name: string): Definition | undefined {
    return this.#kept.stacks.get(name)?.at(-1)?.definition
  }

  names(): Iterable<string> {
    return this.#kept.stacks.keys()
  }

  get(name: string): ToolView | undefined {
    this.#refresh()
    return this.#kept.index.get(name)
  }

  view(): View {
    this.#refresh()
    return this.#kept.view
  }

  /** What has changed since the last call, if anything a model can see has. */
  takeChange(): ToolsChange | undefined {
    const before = this.#kept.announced
    const now = this.view()
    if (now === before) return undefined
    this.#kept.announced = now
    const old = new Map(before.tools.map((tool) => [tool.name, tool]))
    const names = new Set(now.tools.map(({ name }) => name))
    return Object.freeze({
      epoch: now.epoch,
      added: Object.freeze(now.tools.filter(({ name }) => !old.has(name)).map(({ name }) => name)),
      removed: Object.freeze(before.tools.filter(({ name }) => !names.has(name)).map(({ name }) => name)),
      replaced: Object.freeze(now.tools.filter((tool) => old.has(tool.name) && old.get(tool.name) !== tool).map(({ name }) => name)),
    })
  }

  #remove(name: string, registration: Registration): void {
    const stack = this.#kept.stacks.get(name)
    const at = stack?.indexOf(registration) ?? -1
    if (stack === undefined || at < 0) return
    const wasVisible = at === stack.length - 1
    stack.splice(at, 1)
    if (stack.length === 0) this.#kept.stacks.delete(name)
    if (wasVisible) this.#touch()
  }

  #touch(): void {
    this.#kept.stale = true
    this.#kept.touched()
  }

  /**
   * An epoch names a content: a view equal to the last one, or to the announced one, is that one again. So whoever read the catalogue in the
   * middle of a reload sees the old epoch return.
   */
  #refresh(): void {
    const kept = this.#kept
    if (!kept.stale) return
    kept.stale = false
    const views = [...kept.stacks.entries()]
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .flatMap(([name, stack]) => {
        const top = stack.at(-1)
        if (top === undefined) return []
        const known = kept.index.get(name)
        if (known !== undefined && sameTool(known, top.view)) top.view = known
        return [top.view]
      })
    if (sameTools(kept.view.tools, views)) return
    const epoch = kept.lastEpoch + 1
    kept.view = sameTools(kept.announced.tools, views) ? kept.announced : Object.freeze({ epoch, tools: Object.freeze(views) })
    kept.lastEpoch = Math.max(kept.lastEpoch, kept.view.epoch)
    kept.index = new Map(kept.view.tools.map((tool) => [tool.name, tool]))
  }
}

function sameTools(left: readonly ToolView[], right: readonly ToolView[]): boolean {
  return left.length === right.length && left.every((tool, index) => sameTool(tool, right[index] as ToolView))
}

function sameTool(left: ToolView, right: ToolView): boolean {
  return left === right || isDeepStrictEqual(left, right)
}
