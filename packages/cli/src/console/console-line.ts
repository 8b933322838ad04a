import { UsageError } from '../usage-error.ts'

/** One line of the console, taken apart but not yet understood. */
export type ConsoleLine =
  | { readonly kind: 'nothing' }
  /** `! command` */
  | { readonly kind: 'shell'; readonly command: string }
  /** A console command, or a tool with its JSON. */
  | { readonly kind: 'word'; readonly word: string; readonly rest: string }

/** Blank lines and lines that start with `#` are nothing. @throws UsageError */
export function parseLine(line: string): ConsoleLine {
  const text = line.trim()
  if (text === '' || text.startsWith('#')) return { kind: 'nothing' }
  if (text.startsWith('!')) {
    const command = text.slice(1).trim()
    if (command === '') throw new UsageError('write a command behind the !')
    return { kind: 'shell', command }
  }
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  return { kind: 'word', word, rest }
}

/** The JSON behind the name of a tool; nothing counts as `{}`. @throws UsageError that shows the place */
export function parseToolArguments(tool: string, text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    throw new UsageError(`the arguments of ${tool} are not JSON: ${message}\n  write ${tool} {"name": "value"}`)
  }
}
