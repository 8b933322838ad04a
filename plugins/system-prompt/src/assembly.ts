import { setMaxListeners } from 'node:events'
import type { Logger } from '@tenon/kernel'
import type { Session } from '@tenon/session'
import { type AssembledPrompt, type OmittedSection, PromptError } from '@tenon/system-prompt'
import type { Sections } from './kept.ts'
import { type Section, withoutTrailingBlankLines } from './section.ts'

type Rendered = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }

/** Assembles prompts. Keeps the last one that had static sections only. */
export class Assembly {
  readonly #budgetMs: number
  readonly #log: Logger
  #fixed: { readonly sections: Sections; readonly prompt: Promise<AssembledPrompt> } | undefined

  constructor(budgetMs: number, log: Logger) {
    this.#budgetMs = budgetMs
    this.#log = log
  }

  assemble(sections: Sections, session: Session, signal: AbortSignal | undefined): Promise<AssembledPrompt> {
    if (signal?.aborted === true) return Promise.reject(signal.reason)
    if (this.#fixed?.sections === sections) return this.#fixed.prompt
    if (sections.list.some(({ render }) => render !== undefined)) return this.#render(sections, session, signal)
    const prompt = Promise.resolve(join(sections, (section) => section.text ?? '', []))
    this.#fixed = { sections, prompt }
    return prompt
  }

  /** All rendered sections at the same time, each within its own budget. */
  async #render(sections: Sections, session: Session, signal: AbortSignal | undefined): Promise<AssembledPrompt> {
    const leave = new AbortController()
    // Every rendered section listens; Node warns of the eleventh.
    setMaxListeners(0, leave.signal)
    const abort = (): void => leave.abort(signal?.reason)
    signal?.addEventListener('abort', abort, { once: true })
    try {
      const pending = sections.list.map(async (section) => [section, await this.#text(section, session, leave.signal)] as const)
      const rendered = new Map(await Promise.all(pending))
      signal?.throwIfAborted()
      const omitted: OmittedSection[] = []
      for (const [section, outcome] of rendered) if (!outcome.ok) omitted.push(this.#omit(section, outcome.reason))
      return join(sections, (section) => textOf(rendered.get(section)), omitted)
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async #text(section: Section, session: Session, signal: AbortSignal): Promise<Rendered> {
    const { text, render } = section
    if (render === undefined) return { ok: true, text: text ?? '' }
    const own = new AbortController()
    let end: (outcome: Rendered) => void = () => undefined
    const ended = new Promise<Rendered>((resolve) => {
      end = resolve
    })
    const aborted = (): void => {
      own.abort(signal.reason)
      end({ ok: false, reason: 'aborted' })
    }
    const overrun = (): void => {
      own.abort(new Error(`section "${section.name}" is over its budget`))
      end({ ok: false, reason: `took longer than ${this.#budgetMs}ms` })
    }
    const timer = setTimeout(overrun, this.#budgetMs)
    signal.addEventListener('abort', aborted, { once: true })
    // Inside a promise: a throw, and a hostile `then`, become its rejection.
    const rendering = new Promise((settle) => {
      settle(render(Object.freeze({ session, signal: own.signal })))
    })
    rendering.then(
      (value) => end(typeof value === 'string' ? { ok: true, text: withoutTrailingBlankLines(value) } : { ok: false, reason: 'returned no string' }),
      (error: unknown) => end({ ok: false, reason: reasonOf(error) }),
    )
    try {
      return await ended
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', aborted)
    }
  }

  /** @throws PromptError PROMPT_SECTION if it is required */
  #omit({ name, owner, required }: Section, reason: string): OmittedSection {
    if (required)
      throw new PromptError('PROMPT_SECTION', `required section "${name}" of "${owner}" failed: ${reason}`, {
        details: { section: name, owner, reason },
      })
    this.#log.warn({ section: name, owner, reason }, `section "${name}" of "${owner}" was left out: ${reason}`)
    return Object.freeze({ section: name, owner, reason })
  }
}

function join(sections: Sections, textOfSection: (section: Section) => string, omitted: readonly OmittedSection[]): AssembledPrompt {
  const parts = sections.list.map(textOfSection).filter((text) => text !== '')
  return Object.freeze({ text: parts.join('\n\n'), epoch: sections.epoch, omitted: Object.freeze(omitted) })
}

function textOf(rendered: Rendered | undefined): string {
  return rendered?.ok === true ? rendered.text : ''
}

function reasonOf(error: unknown): string {
  try {
    const { message } = error as { message?: unknown }
    const text = typeof error === 'string' ? error : message
    return typeof text === 'string' && text.trim() !== '' ? text : '<unprintable thrown value>'
  } catch {
    return '<unprintable thrown value>'
  }
}
