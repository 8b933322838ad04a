import { checkCatalog } from '@tenon/runtime'
import { takeCatalog } from '../catalog-argument.ts'
import { editOf } from '../composition-edit.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { diagnosticsText } from '../failure.ts'
import { graphOf, mermaid, tree } from '../graph.ts'
import { plainText, printableJson } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'

export const GRAPH_FORMATS = ['tree', 'mermaid', 'json'] as const

/** Rows, what they provide, and who is bound to whom; from the check, so nothing runs. */
export async function graph(
  context: CommandContext,
  args: readonly string[],
  flags: CompositionFlags & { readonly format: string },
): Promise<number> {
  const { io, screen } = context
  const { catalog, rest } = takeCatalog(args, io.cwd)
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is not a catalog file: its name ends in .yaml, .yml or .json`)
  const report = await checkCatalog(catalog, { edit: editOf(flags), host: { env: io.env } })
  const shape = graphOf(report.composition)
  if (flags.format === 'json') screen.print(printableJson({ ...shape, ok: report.ok, diagnostics: report.diagnostics }, 2))
  else screen.print(plainText(flags.format === 'mermaid' ? mermaid(shape) : tree(shape)))
  if (flags.format !== 'json' && report.diagnostics.length > 0) screen.complain(`\n${diagnosticsText(report.diagnostics, screen.errorColor, io.cwd)}`)
  return report.ok ? ExitCode.ok : ExitCode.failed
}
