import { didYouMean, type Plugin } from '@tenon/kernel'
import { type Diagnostic, diagnose } from './diagnostic.ts'
import type { Place } from './source-text.ts'

export interface CheckedRow {
  readonly id: string
  readonly plugin: Plugin
  readonly place: Place
  /** What makes the row run, in the nearest file that says so. */
  readonly claim: Place
  readonly optional: boolean
  /** Its config is not valid: it would provide what its plugin does, but it will not run. */
  readonly broken: boolean
}

/** A row that will not run. */
export interface IdleRow {
  readonly id: string
  readonly why: string
  readonly broken: boolean
  /** What is wrong with it is a warning. */
  readonly optional: boolean
  /** What keeps it from running, in the nearest file that says so. */
  readonly claim: Place
  /** What it would provide; undefined if nobody can tell, since its code does not load. */
  provides(): Promise<readonly string[] | undefined>
}

export interface CapabilityCheckOptions {
  readonly rows: readonly CheckedRow[]
  readonly idle: readonly IdleRow[]
  /** Each before those it extends. */
  readonly files: readonly string[]
  /** The first-party plugins and what each provides; asked for only when something is missing. */
  readonly known: () => Promise<ReadonlyMap<string, readonly string[]>>
}

/** Provided by the kernel itself. */
const BUILT_IN = new Set(['reconciling'])

/** What nobody provides, what two provide, and needs that run in a ring. */
export async function checkCapabilities(options: CapabilityCheckOptions): Promise<readonly Diagnostic[]> {
  const providers = new Map<string, CheckedRow[]>()
  for (const row of options.rows) {
    for (const { key } of row.plugin.provides) providers.set(key, [...(providers.get(key) ?? []), row])
  }
  return [...taken(providers, options.files), ...(await missing(options, providers)), ...cycles(options.rows, providers)]
}

/** The fault lies with the row that was written on top of the others, whatever the ids are: a person mends the file at hand. */
function* taken(providers: ReadonlyMap<string, readonly CheckedRow[]>, files: readonly string[]): Generator<Diagnostic> {
  const depth = ({ claim }: CheckedRow): number => files.indexOf(claim.source.path)
  for (const [key, rows] of providers) {
    const [first, ...others] = rows.toSorted((a, b) => depth(b) - depth(a) || a.claim.start - b.claim.start)
    for (const row of others) {
      const message = `row "${row.id}": "${key}" is provided by row "${first?.id}" already`
      yield diagnose(row.claim, 'CAPABILITY_TAKEN', message, {
        hint: `set \`disabled: true\` on one of "${first?.id}" and "${row.id}"`,
        ...aboutRow(row),
      })
    }
  }
}

async function missing(options: CapabilityCheckOptions, providers: ReadonlyMap<string, readonly CheckedRow[]>): Promise<readonly Diagnostic[]> {
  const diagnostics: Diagnostic[] = []
  for (const row of options.rows) {
    for (const { key } of row.plugin.inject) {
      const [first, ...others] = providers.get(key) ?? []
      const isSupplied = first !== undefined && (others.length > 0 || !tellsTooLittle(first, row))
      if (BUILT_IN.has(key) || isSupplied) continue
      const supply = first === undefined ? await supplyOf(key, row, options, providers.keys()) : brokenSupply(first, row)
      if (supply === undefined) continue
      const { hint, place = row.place } = supply
      diagnostics.push(diagnose(place, 'CAPABILITY_MISSING', `row "${row.id}" needs "${key}", which no row provides`, { hint, ...aboutRow(row) }))
    }
  }
  return diagnostics
}

/** The fault of an optional row is a warning, and does not say that a required one cannot run without it. */
function tellsTooLittle(idle: Pick<IdleRow, 'broken' | 'optional'>, inNeed: CheckedRow): boolean {
  return idle.broken && idle.optional && !inNeed.optional
}

interface Supply {
  readonly hint: string
  /** Of what takes the capability away, if that was written on top of the row in need. */
  readonly place?: Place
}

function brokenSupply({ id }: CheckedRow, inNeed: CheckedRow): Supply {
  return { hint: `row "${id}" would provide it, but it is optional and its config is not valid: mend it, or make "${inNeed.id}" optional too` }
}

/** Undefined if the gap is the work of a row whose plugin does not load: that is a fault already, and one fault is told once. */
async function supplyOf(
  key: string,
  inNeed: CheckedRow,
  { idle, known, files }: CapabilityCheckOptions,
  present: Iterable<string>,
): Promise<Supply | undefined> {
  const { id, plugin, claim } = inNeed
  let unreadable = false
  let perhaps: string | undefined
  for (const row of idle) {
    const provides = await row.provides()
    if (provides === undefined && tellsTooLittle(row, inNeed)) perhaps ??= row.id
    unreadable ||= provides === undefined && !tellsTooLittle(row, inNeed)
    if (provides?.includes(key) !== true) continue
    if (row.broken && !tellsTooLittle(row, inNeed)) return undefined
    const above = files.indexOf(row.claim.source.path) < files.indexOf(claim.source.path)
    return { hint: `row "${row.id}" would provide it, but ${row.why}: put it in, or take "${id}" out too`, ...(above ? { place: row.claim } : {}) }
  }
  const plugins = await known()
  const able = [...plugins].filter(([, provides]) => provides.includes(key)).map(([name]) => name)
  const [first] = able
  if (first !== undefined) return { hint: `provided by ${able.join(', ')}: add a row, for example \`${key}: ${first}\`` }
  if (unreadable) return undefined
  if (perhaps !== undefined) return { hint: `row "${perhaps}" may be what provides it, but it is optional and its plugin does not load: mend it` }
  // Not what it provides itself.
  const own = new Set(plugin.provides.map((provided) => provided.key))
  const others = new Set([...present, ...[...plugins.values()].flat()].filter((other) => !own.has(other)))
  const meant = didYouMean(key, others)
  return { hint: meant === undefined ? 'no known plugin provides it: add a row for one that does' : `did the plugin mean "${meant}"?` }
}

function* cycles(rows: readonly CheckedRow[], providers: ReadonlyMap<string, readonly CheckedRow[]>): Generator<Diagnostic> {
  const done = new Set<CheckedRow>()
  for (const start of rows) {
    const ring = done.has(start) ? undefined : findRing(start, providers, done, [])
    if (ring === undefined) continue
    const [first] = ring
    const path = ring.map(({ row, needs }) => `${row.id} needs "${needs}" of `).join('')
    const message = `rows need each other in a ring: ${path}${first?.row.id}`
    const hint = 'one of them has to take what it needs in a fork (scope.inject), which may come later'
    if (first !== undefined) yield diagnose(first.row.place, 'CAPABILITY_CYCLE', message, { hint, ...aboutRow(first.row) })
  }
}

interface Step {
  readonly row: CheckedRow
  readonly needs: string
}

/** Depth first; a row that was left behind is in no ring that is still to be found. */
function findRing(
  row: CheckedRow,
  providers: ReadonlyMap<string, readonly CheckedRow[]>,
  done: Set<CheckedRow>,
  path: readonly Step[],
): readonly Step[] | undefined {
  const start = path.findIndex((step) => step.row === row)
  if (start !== -1) return path.slice(start)
  if (done.has(row)) return undefined
  for (const { key } of row.plugin.inject) {
    for (const provider of providers.get(key) ?? []) {
      const ring = findRing(provider, providers, done, [...path, { row, needs: key }])
      if (ring !== undefined) {
        done.add(row)
        return ring
      }
    }
  }
  done.add(row)
  return undefined
}

function aboutRow(row: CheckedRow): { readonly row: string; readonly severity: Diagnostic['severity'] } {
  return { row: row.id, severity: row.optional ? 'warning' : 'error' }
}
