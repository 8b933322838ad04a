import path from 'node:path'
import { type CheckReport, checkCatalog, fileName } from '@tenon/runtime'
import { takeCatalog } from '../catalog-argument.ts'
import { editOf } from '../composition-edit.ts'
import type { CommandContext, CompositionFlags } from '../context.ts'
import { ExitCode } from '../exit-codes.ts'
import { diagnosticsText } from '../failure.ts'
import { stdioFaults } from '../stdio-server.ts'
import { printableJson } from '../terminal-text.ts'

/** Diagnostics only; nothing is activated. */
export async function check(
  context: CommandContext,
  args: readonly string[],
  flags: CompositionFlags & { readonly json?: boolean },
): Promise<number> {
  const { io, screen } = context
  const files = args.length === 0 ? [takeCatalog([], io.cwd).catalog] : args.map((file) => path.resolve(io.cwd, file))
  const edit = editOf(flags)
  const reports = []
  // One after the other: plugins are imported into one process, and a report should not depend on its neighbours.
  for (const file of files) reports.push({ file, ...withStdio(await checkCatalog(file, { edit, host: { env: io.env } })) })
  const ok = reports.every((report) => report.ok)
  if (flags.json === true) {
    screen.print(printableJson({ ok, catalogs: reports.map(({ file, ok: fits, diagnostics }) => ({ file, ok: fits, diagnostics })) }, 2))
    return ok ? ExitCode.ok : ExitCode.failed
  }
  for (const { file, composition, diagnostics } of reports) {
    const name = fileName(file, io.cwd)
    const rows = composition.rows.filter(({ state }) => state === 'active').length
    if (diagnostics.length > 0) screen.print(`${diagnosticsText(diagnostics, screen.color, io.cwd)} in ${name}`)
    else if (!screen.quiet) screen.print(`${screen.paint('green', 'ok')} ${name}: ${rows === 1 ? '1 row fits' : `${rows} rows fit`} together`)
  }
  return ok ? ExitCode.ok : ExitCode.failed
}

/** What `tenon mcp` would refuse. */
function withStdio({ ok, composition, diagnostics }: CheckReport): Pick<CheckReport, 'ok' | 'composition' | 'diagnostics'> {
  const faults = stdioFaults(composition)
  return { ok: ok && faults.length === 0, composition, diagnostics: [...diagnostics, ...faults] }
}
