import { type CatalogEdit, combineEdits, settingText } from './catalog-edit.ts'
import type { CheckReport } from './check.ts'
import type { Diagnostic, DiagnosticCode } from './diagnostic.ts'

export interface Overlaid {
  readonly edit: CatalogEdit
  readonly report: CheckReport
  /** Parts of the standing edit that are not in `edit`: a warning each, which says why. */
  readonly dropped: readonly Diagnostic[]
}

/**
 * Lays what is asked for over the edit that stands, and checks both. A part of the standing edit can lose its row or its option to a
 * change of the file or of the code; it is dropped then, since nobody could take it back and every later edit would be refused for it.
 * What is asked for now is never dropped: a mistake in it is the report's to tell.
 */
export async function overlay(standing: CatalogEdit, asked: CatalogEdit, run: (edit: CatalogEdit) => Promise<CheckReport>): Promise<Overlaid> {
  const edit = combineEdits(standing, asked)
  const report = await run(edit)
  if (faultsIn(standing, report).length === 0) return { edit, report, dropped: [] }
  // By itself: a standing part that only does not go with what is asked for still applies.
  const { edit: rest, dropped } = await settle(standing, run)
  if (dropped.length === 0) return { edit, report, dropped }
  const mended = combineEdits(rest, asked)
  return { edit: mended, report: await run(mended), dropped }
}

async function settle(standing: CatalogEdit, run: (edit: CatalogEdit) => Promise<CheckReport>): Promise<Omit<Overlaid, 'report'>> {
  const faults = faultsIn(standing, await run(standing))
  if (faults.length === 0) return { edit: standing, dropped: [] }
  const { edit, dropped } = await settle(without(standing, faults), run)
  const told = faults.map((fault) => ({
    ...fault,
    severity: 'warning' as const,
    message: `\`${wordsOf(fault)}\` no longer applies and is dropped: ${fault.message}`,
  }))
  return { edit, dropped: [...told, ...dropped] }
}

/** Of a conflict with other rows the edit is one side, and can be changed: only what it names, or gives, can be gone. */
const OUTDATED: ReadonlySet<DiagnosticCode> = new Set(['ROW_UNKNOWN', 'CONFIG_UNKNOWN_KEY', 'CONFIG_INVALID'])

/** Also those of an optional row, which are warnings: they cost the row. */
function faultsIn(edit: CatalogEdit, { diagnostics }: CheckReport): readonly Diagnostic[] {
  const words = new Set([
    ...Object.entries(edit.set ?? {}).map(([path, value]) => `set ${settingText(path, value)}`),
    ...(edit.enable ?? []).map((id) => `enable ${id}`),
    ...(edit.disable ?? []).map((id) => `disable ${id}`),
  ])
  return diagnostics.filter((diagnostic) => OUTDATED.has(diagnostic.code) && words.has(wordsOf(diagnostic)))
}

function without({ set = {}, enable = [], disable = [] }: CatalogEdit, faults: readonly Diagnostic[]): CatalogEdit {
  const words = new Set(faults.map(wordsOf))
  return {
    set: Object.fromEntries(Object.entries(set).filter(([path, value]) => !words.has(`set ${settingText(path, value)}`))),
    enable: enable.filter((id) => !words.has(`enable ${id}`)),
    disable: disable.filter((id) => !words.has(`disable ${id}`)),
  }
}

/** The part of an edit a diagnostic lies in: the verb stands for the file. */
function wordsOf({ file, source }: Diagnostic): string {
  return `${file} ${source}`
}
