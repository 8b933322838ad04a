import { type PromptContext, PromptError, type PromptSection } from '@tenon/system-prompt'

/** A registered section, read once. */
export interface Section {
  readonly name: string
  readonly order: number
  /** Without trailing blank lines; undefined: it is rendered. */
  readonly text: string | undefined
  readonly render: ((context: PromptContext) => unknown) | undefined
  readonly required: boolean
  /** The row it belongs to. */
  readonly owner: string
}

/** @throws PromptError PROMPT_INVALID naming section and field */
export function readSection(given: PromptSection, owner: string): Section {
  const { name, order, text, render, required = false } = given
  const refuse = (problem: string): never => {
    throw new PromptError('PROMPT_INVALID', `section ${JSON.stringify(name)} of "${owner}": ${problem}`)
  }
  if (typeof name !== 'string' || name.trim() === '') refuse('name must not be blank')
  if (!Number.isFinite(order)) refuse(`order must be a finite number, not ${String(order)}`)
  if ((text === undefined) === (render === undefined)) refuse('it needs exactly one of text and render')
  if (text !== undefined && typeof text !== 'string') refuse('text must be a string')
  if (render !== undefined && typeof render !== 'function') refuse('render must be a function')
  if (typeof required !== 'boolean') refuse('required must be a boolean')
  return {
    name,
    order,
    text: text === undefined ? undefined : withoutTrailingBlankLines(text),
    // Called as a method: a section may be an instance of a class.
    render: render === undefined ? undefined : (context) => given.render?.(context),
    required,
    owner,
  }
}

/** By order, then by name in code units. */
export function compareSections(left: Section, right: Section): number {
  return left.order - right.order || (left.name < right.name ? -1 : left.name > right.name ? 1 : 0)
}

/** Whether an assembly can tell them apart. Two renderers are never known to be the same. */
export function sameSection(left: Section, right: Section): boolean {
  if (left === right) return true
  return (
    left.name === right.name && left.order === right.order && left.text !== undefined && left.text === right.text && left.required === right.required
  )
}

/** Blank text is empty. Spaces at the end of the last line stay: text is taken verbatim. */
export function withoutTrailingBlankLines(text: string): string {
  const end = text.trimEnd().length
  if (end === 0) return ''
  const newline = text.indexOf('\n', end)
  if (newline < 0) return text
  return text.slice(0, text[newline - 1] === '\r' ? newline - 1 : newline)
}
