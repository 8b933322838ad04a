import path from 'node:path'
import { styleText } from 'node:util'
import type { Diagnostic } from './diagnostic.ts'

export interface PrintOptions {
  readonly color?: boolean
  /** Files are named relative to it. */
  readonly cwd?: string
}

/** A source line longer than this is shown around the place; a minified JSON file is one line. */
const WIDEST = 120

/** Several lines, without a newline at the end: what, where, the source line with a caret, and how to mend it. */
export function printDiagnostic(diagnostic: Diagnostic, options: PrintOptions = {}): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string): string => (options.color === true ? styleText(style, text) : text)
  const { severity, code, message, hint, line, column } = diagnostic
  const gutter = String(line)
  const margin = ' '.repeat(gutter.length)
  const { text, from, to } = excerpt(diagnostic)
  const caret = `${text.slice(0, from).replace(/[^\t]/g, ' ')}${'^'.repeat(Math.max(1, to - from))}`
  const lines = [
    `${paint(severity === 'error' ? ['red', 'bold'] : ['yellow', 'bold'], `${severity}:`)} ${paint('bold', printable(message))} ${paint('dim', `[${code}]`)}`,
    `${margin} ${paint('dim', '-->')} ${fileName(diagnostic.file, options.cwd)}:${line}:${column}`,
    ...(text === ''
      ? []
      : [`${gutter} ${paint('dim', '|')} ${text}`, `${margin} ${paint('dim', '|')} ${paint(severity === 'error' ? 'red' : 'yellow', caret)}`]),
    ...(hint === undefined ? [] : [`${margin} ${paint('cyan', 'hint:')} ${printable(hint)}`]),
  ]
  return lines.join('\n')
}

/** Relative where it lies below, as a person would name it. */
export function fileName(file: string, cwd: string | undefined): string {
  if (cwd === undefined || !path.isAbsolute(file)) return printable(file)
  const relative = path.relative(cwd, file)
  return printable(relative === '' ? '.' : relative.startsWith('..') ? file : relative)
}

function excerpt({ source, column, endColumn }: Diagnostic): { readonly text: string; readonly from: number; readonly to: number } {
  const from = column - 1
  if (source.length <= WIDEST) return { text: printable(source), from, to: endColumn - 1 }
  const start = Math.max(0, from - WIDEST / 3)
  const before = start === 0 ? '' : '…'
  const text = before + source.slice(start, start + WIDEST) + (start + WIDEST < source.length ? '…' : '')
  const shift = before.length - start
  return { text: printable(text), from: from + shift, to: Math.min(endColumn - 1 + shift, text.length) }
}

/** A file, or the message of a plugin, must not steer the terminal. Tabs and newlines stay. */
function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it removes.
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '�')
}
