import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { dirname } from 'node:path'
import type { Summary } from './statistics.ts'

/** One line of a report. */
export interface Finding {
  readonly what: string
  /** What was promised; undefined for a figure that is only told. */
  readonly target?: { readonly text: string; readonly met: boolean }
  readonly measured: Summary
  readonly unit: string
}

/** A Markdown table whose columns line up in a terminal, too. */
export function table(findings: readonly Finding[]): string {
  const rows = [
    ['what', 'median', 'quartiles', 'runs', 'target', ''],
    ...findings.map(({ what, target, measured, unit }) => [
      what,
      amount(measured.median, unit),
      `${amount(measured.lowerQuartile, unit)} – ${amount(measured.upperQuartile, unit)}`,
      String(measured.count),
      target?.text ?? '',
      verdict(target),
    ]),
  ]
  const widths = rows[0]?.map((_, column) => Math.max(3, ...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const lines = rows.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`)
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}

/** True if every finding that has a target meets it. */
export function isMet(findings: readonly Finding[]): boolean {
  return findings.every(({ target }) => target?.met !== false)
}

/** Which machine, as far as it matters for the figures and tells nobody whose it is. */
export function machine(): string {
  const processors = cpus()
  return `Node ${process.versions.node}, ${processors.length} × ${processors[0]?.model.trim() ?? 'unknown processor'}`
}

/**
 * Replaces one part of a text, which stands between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->`; a text that has no such part
 * gets it at its end. All else stays as it is, so that benches do not write over each other or over what people wrote.
 *
 * @throws Error if only one of the two markers is there, or one is there twice
 */
export function replacePart(text: string, name: string, body: string): string {
  const [open, close] = [`<!-- bench:${name} -->`, `<!-- /bench:${name} -->`]
  const part = `${open}\n\n${body.trim()}\n\n${close}`
  const [opened, closed] = [text.split(open).length - 1, text.split(close).length - 1]
  if (opened === 0 && closed === 0) return `${text.trimEnd()}${text.trim() === '' ? '' : '\n\n'}${part}\n`
  const [start, end] = [text.indexOf(open), text.indexOf(close)]
  if (opened !== 1 || closed !== 1 || end < start) throw new Error(`the markers ${open} and ${close} must each stand once, in this order`)
  return text.slice(0, start) + part + text.slice(end + close.length)
}

/** Writes a bench's part into the report; a report that is not there yet begins with the title. */
export async function writePart(file: string, name: string, body: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '# Performance\n'
    throw error
  })
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, replacePart(text, name, body))
}

function verdict(target: Finding['target']): string {
  if (target === undefined) return ''
  return target.met ? 'met' : 'MISSED'
}

/** Three digits that count. */
function amount(value: number, unit: string): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  const [whole = '', fraction] = value.toFixed(digits).split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}${fraction === undefined ? '' : `.${fraction}`}${unit === 'x' ? 'x' : ` ${unit}`}`
}
