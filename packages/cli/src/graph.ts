import type { Composition, CompositionRow, Origin } from '@tenon/runtime'

/** Plain data. */
export interface CompositionGraph {
  readonly name: string
  readonly file: string
  readonly files: readonly string[]
  readonly rows: readonly GraphRow[]
}

export interface GraphRow {
  readonly id: string
  /** As written in the catalog. */
  readonly use: string
  /** The plugin's own name, if it could be loaded. */
  readonly plugin?: string
  readonly state: CompositionRow['state']
  readonly why?: string
  readonly optional: boolean
  readonly provides: readonly string[]
  readonly injects: readonly string[]
  /** Capability → id of the row it is bound to. */
  readonly bindings: Readonly<Record<string, string>>
  /** Every value as it is written, and where. What an expression stands for is not told: it may be a secret. */
  readonly origins: readonly Origin[]
}

/** Static needs only: what a plugin takes in a fork is told by the running kernel. */
export function graphOf({ name, file, files, rows }: Composition): CompositionGraph {
  const providers = new Map<string, string>()
  for (const { id, state, loaded } of rows) {
    if (state === 'active') for (const { key } of loaded?.plugin.provides ?? []) if (!providers.has(key)) providers.set(key, id)
  }
  return { name, file, files, rows: rows.map((row) => graphRow(row, providers)) }
}

function graphRow({ id, use, state, why, optional, loaded, origins }: CompositionRow, providers: ReadonlyMap<string, string>): GraphRow {
  const keys = (list: readonly { readonly key: string }[] | undefined): readonly string[] => (list ?? []).map(({ key }) => key)
  const injects = keys(loaded?.plugin.inject)
  return {
    ...{ id, use, ...(loaded === undefined ? {} : { plugin: loaded.plugin.name }), state, ...(why === undefined ? {} : { why }), optional },
    provides: keys(loaded?.plugin.provides),
    injects,
    bindings: Object.fromEntries(injects.flatMap((key) => (providers.has(key) ? [[key, providers.get(key) ?? '']] : []))),
    origins,
  }
}

/** Rows that nobody uses at the root, below each what it is bound to. */
export function tree({ name, file, rows }: CompositionGraph): string {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const active = rows.filter(({ state }) => state === 'active')
  const used = new Set(active.flatMap(({ bindings }) => Object.values(bindings)))
  const shown = new Set<string>()
  const node = (row: GraphRow, label: string, path: readonly string[]): Node => {
    const seen = path.includes(row.id) || (shown.has(row.id) && row.injects.length > 0)
    shown.add(row.id)
    if (seen) return { label: `${label} (above)`, children: [] }
    return { label, children: row.injects.map((key) => bound(key, byId.get(row.bindings[key] ?? ''), [...path, row.id])) }
  }
  const bound = (key: string, provider: GraphRow | undefined, path: readonly string[]): Node => {
    if (provider === undefined) return { label: key === 'reconciling' ? `${key} ← the kernel` : `${key} ← nobody`, children: [] }
    return node(provider, `${key} ← ${title(provider)}`, path)
  }
  const roots = active.filter(({ id }) => !used.has(id)).map((row) => node(row, title(row), []))
  // In a ring everybody is used by somebody.
  const rest = active.filter(({ id }) => !shown.has(id)).map((row) => node(row, title(row), []))
  const idle = rows
    .filter(({ state }) => state !== 'active')
    .map((row) => ({ label: `${title(row)}  (${row.state}: ${row.why ?? ''})`, children: [] }))
  return [`${name}  ${file}`, ...lines([...roots, ...rest, ...idle], '')].join('\n')
}

interface Node {
  readonly label: string
  readonly children: readonly Node[]
}

function lines(nodes: readonly Node[], margin: string): readonly string[] {
  return nodes.flatMap(({ label, children }, index) => {
    const last = index === nodes.length - 1
    return [`${margin}${last ? '└─' : '├─'} ${label}`, ...lines(children, `${margin}${last ? '   ' : '│  '}`)]
  })
}

function title({ id, use, optional }: GraphRow): string {
  return `${id}${use === id ? '' : `: ${use}`}${optional ? ' (optional)' : ''}`
}

/** A flow chart: an arrow from each row to the row it is bound to. */
export function mermaid({ rows }: CompositionGraph): string {
  const nodes = new Map(rows.map((row, index) => [row.id, `row${index}`]))
  const quoted = (text: string): string => `"${text.replace(/[#"<>&]/g, (character) => `#${character.charCodeAt(0)};`)}"`
  const declared = rows.map((row) => `  ${nodes.get(row.id)}[${quoted(title(row))}]${row.state === 'active' ? '' : ':::idle'}`)
  const arrows = rows.flatMap((row) => {
    const bindings = row.state === 'active' ? Object.entries(row.bindings) : []
    return bindings.map(([key, provider]) => `  ${nodes.get(row.id)} -- ${quoted(key)} --> ${nodes.get(provider)}`)
  })
  return ['flowchart LR', ...declared, ...arrows, '  classDef idle stroke-dasharray: 4'].join('\n')
}
