import { type Diagnostic, diagnose } from './diagnostic.ts'
import type { SourceText } from './source-text.ts'

/** What keeps a text from being JSON, at its place. Other readers of a `.json` file take no YAML for JSON. */
export function jsonFault(source: SourceText): Diagnostic | undefined {
  const { text } = source
  if (text.trim() === '') return undefined
  const problem = problemOf(text)
  if (problem === undefined) return undefined
  const start = faultIn(text)
  const what = start >= text.trimEnd().length ? 'it ends too early' : `unexpected ${JSON.stringify(text[start])}`
  return diagnose({ source, start, end: start + 1 }, 'CATALOG_SYNTAX', `this is not JSON: ${what}`, {
    hint: 'a file that ends in .json holds JSON alone; comments and the rest of YAML take a file that ends in .yaml',
  })
}

/** Length of the longest beginning that could go on as JSON: engines do not all tell the place, and none in a form to count on. */
function faultIn(text: string): number {
  let [open, broken] = [0, text.length + 1]
  while (broken - open > 1) {
    const middle = Math.floor((open + broken) / 2)
    if (canGoOn(text.slice(0, middle))) open = middle
    else broken = middle
  }
  return Math.min(open, text.trimEnd().length)
}

function canGoOn(beginning: string): boolean {
  const problem = problemOf(beginning)
  if (problem === undefined || /end of JSON|unterminated/i.test(problem)) return true
  const [, position] = /position (\d+)/.exec(problem) ?? []
  return position !== undefined && Number(position) >= beginning.length
}

function problemOf(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
