import { type AppliedEdit, type CatalogEdit, type CompositionRow, causeLines, parseSetting, type Runtime } from '@tenon/runtime'
import { describeEdit, describeFailure } from '../edit-news.ts'
import { ExitCode } from '../exit-codes.ts'
import type { Screen } from '../screen.ts'
import { plainText } from '../terminal-text.ts'
import { UsageError } from '../usage-error.ts'
import type { Verb, VerbContext } from './verbs.ts'

/** The commands that look at rows and change them. */
export const rowVerbs: readonly Verb[] = [
  { name: 'rows', usage: '', help: 'the rows of the composition and how they are', run: ({ runtime, screen }) => rows(runtime, screen) },
  { name: 'explain', usage: 'ROW', help: 'why a row is as it is, and where its values come from', completes: 'row', run: explain },
  {
    name: 'reload',
    usage: 'ROW',
    help: 'load the code of a row anew and swap it in',
    completes: 'row',
    run: async ({ runtime, screen }, rest) => tellEdit(await runtime.reload(rowNamed(rest, 'reload')), screen),
  },
  {
    name: 'set',
    usage: 'ROW.PATH=VALUE',
    help: "change one value of a row's config until the console ends",
    completes: 'row.path',
    run: (context, rest) => edit(context, { set: Object.fromEntries([parseSetting(rest)]) }),
  },
  {
    name: 'disable',
    usage: 'ROW',
    help: 'take a row out',
    completes: 'row',
    run: (context, rest) => edit(context, { disable: [rowNamed(rest, 'disable')] }),
  },
  {
    name: 'enable',
    usage: 'ROW',
    help: 'put a disabled row in',
    completes: 'row',
    run: (context, rest) => edit(context, { enable: [rowNamed(rest, 'enable')] }),
  },
]

async function edit({ runtime, screen }: VerbContext, change: CatalogEdit): Promise<number> {
  return tellEdit(await runtime.apply(change), screen)
}

/** What an edit did, or why it was taken back. */
export function tellEdit(applied: AppliedEdit, screen: Screen): number {
  if (applied.rolledBack !== undefined) {
    screen.complain(describeFailure(applied.rolledBack, applied, (text) => screen.paintError(['red', 'bold'], text)))
    return ExitCode.failed
  }
  screen.print(describeEdit(applied))
  return ExitCode.ok
}

function rows({ kernel, composition }: Runtime, screen: Screen): number {
  const live = new Map(kernel.inspect().rows.map((row) => [row.id, row]))
  const table = composition.rows.map((row) => {
    const report = live.get(row.id)
    const phase = report?.phase ?? row.state
    const detail = report === undefined ? (row.why ?? '') : report.offers.length === 0 ? '' : `provides ${report.offers.join(', ')}`
    return [row.id, row.use, phase, detail] as const
  })
  const width = (column: 0 | 1 | 2): number => Math.max(...table.map((cells) => cells[column].length), 0)
  const widths = [width(0), width(1), width(2)] as const
  for (const [id, use, phase, detail] of table) {
    const state = phase.padEnd(widths[2])
    const styled = phase === 'active' ? screen.paint('green', state) : phase === 'failed' ? screen.paint('red', state) : screen.paint('dim', state)
    screen.print(`${plainText(`${id.padEnd(widths[0])}  ${use.padEnd(widths[1])}`)}  ${styled}  ${plainText(detail)}`.trimEnd())
  }
  return ExitCode.ok
}

function explain({ runtime, screen }: VerbContext, rest: string): number {
  const id = rowNamed(rest, 'explain')
  const row = runtime.composition.rows.find((candidate) => candidate.id === id)
  if (row === undefined) throw new UsageError(`there is no row "${id}"; rows: ${runtime.composition.rows.map((known) => known.id).join(', ')}`)
  screen.printUntrusted([...state(runtime, row), ...origins(row)].join('\n'))
  return ExitCode.ok
}

function state({ kernel }: Runtime, row: CompositionRow): readonly string[] {
  const report = kernel.inspect().rows.find(({ id }) => id === row.id)
  if (report === undefined) return [`${row.id} is ${row.state}: ${row.why ?? ''}`]
  const { plugin, phase, generation, activationMs, bindings, offers, effects, kept, faults } = report
  const list = (name: string, values: readonly string[]): readonly string[] => (values.length === 0 ? [] : [`  ${name}: ${values.join(', ')}`])
  return [
    `${row.id} is ${phase} (plugin ${plugin}, activation ${generation}${activationMs === undefined ? '' : `, ${Math.round(activationMs)} ms`})`,
    ...(phase === 'active' ? [] : causeLines(kernel.explain(row.id))),
    ...list(
      'bound to',
      Object.entries(bindings).map(([key, provider]) => `${key} of ${provider}`),
    ),
    ...list('provides', offers),
    ...list('keeps', kept),
    `  effects: ${effects}`,
    ...faults.map(({ what, message }) => `  fault: ${what}: ${message}`),
  ]
}

function origins(row: CompositionRow): readonly string[] {
  if (row.origins.length === 0) return []
  const written = row.origins.map(({ path, value, file, line, column }) => `    ${path} = ${JSON.stringify(value)}  (${file}:${line}:${column})`)
  return ['  written:', ...written]
}

function rowNamed(rest: string, verb: string): string {
  if (!/^\S+$/.test(rest)) throw new UsageError(`write ${verb} ROW; \`rows\` lists them`)
  return rest
}
