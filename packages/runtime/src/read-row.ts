import path from 'node:path'
import { didYouMean, type Json, type Plugin } from '@tenon/kernel'
import { comparisons, type Host, whyNot } from './applies.ts'
import { ROW_ID, RowHead } from './catalog-schema.ts'
import type { CompositionRow, Origin } from './composition.ts'
import { type Diagnostic, type DiagnosticCode, type DiagnosticDetails, diagnose } from './diagnostic.ts'
import { expand } from './expression.ts'
import { keyPlaceOf, type Located, type LocatedEntry, leaves, type Path, placeOf, toJson } from './located.ts'
import type { LoadFault, LoadOutcome } from './plugin-loader.ts'
import type { PluginSource } from './plugin-source.ts'
import { checkAgainst, type SchemaFault } from './schema-faults.ts'
import { type Place, type Position, positionOf } from './source-text.ts'

export interface RowContext {
  readonly host: Host
  readonly ids: readonly string[]
  /** Each before those it extends. */
  readonly files: readonly string[]
  sourceOf(use: string, folder: string): PluginSource
  load(source: PluginSource): Promise<LoadOutcome>
}

export interface ReadRow {
  /** Undefined for a row whose own form is wrong. */
  readonly row: CompositionRow | undefined
  /** Of `use`; where faults of the whole row are shown. */
  readonly place: Place
  readonly source?: PluginSource
  readonly fault?: LoadFault
  readonly diagnostics: readonly Diagnostic[]
}

/** One row from its merged text to a checked config. Nothing of a row that does not apply is expanded, loaded or imported. */
export async function readRow(id: string, entry: LocatedEntry, context: RowContext): Promise<ReadRow> {
  const reader = new RowReader(id, entry, context)
  return { ...(await reader.read()), diagnostics: reader.diagnostics }
}

class RowReader {
  readonly diagnostics: Diagnostic[] = []
  readonly #id: string
  readonly #entry: LocatedEntry
  readonly #context: RowContext
  /** Expressions that came to nothing. */
  readonly #failed: Diagnostic[] = []
  #optional = false

  constructor(id: string, entry: LocatedEntry, context: RowContext) {
    this.#id = id
    this.#entry = entry
    this.#context = context
  }

  async read(): Promise<Omit<ReadRow, 'diagnostics'>> {
    const head = this.#head()
    if (head === undefined) return { row: undefined, place: this.#entry.key }
    const use = this.#child(head.located, 'use') ?? this.#entry
    const place = use.value.place
    const config = this.#child(head.located, 'with')
    const row = (state: CompositionRow['state'], rest: Partial<CompositionRow>, expanded = config): CompositionRow => ({
      ...{ id: this.#id, use: head.value.use, position: positionOf(place), optional: this.#optional, state, config: undefined },
      ...{ origins: originsOf(head.located, expanded), ...rest },
    })
    const source = this.#context.sourceOf(head.value.use, path.dirname(place.source.path))
    if (head.value.disabled) return { row: row('disabled', { why: 'it is disabled' }), place, source }
    const why = head.value.when === undefined ? undefined : whyNot(head.value.when, this.#context.host)
    if (why !== undefined) return { row: row('skipped', { why }), place, source }

    const outcome = await this.#context.load(source)
    const expanded = config && { ...config, value: this.#expand(config.value) }
    if (!outcome.ok) {
      const { code, message, hint } = outcome.fault
      this.#report(place, code, `row "${this.#id}": ${message}`, { hint })
      return { row: row('broken', { why: message }, expanded), place, source, fault: outcome.fault }
    }
    const { ok: _, ...loaded } = outcome
    const fits = this.#checkConfig(loaded.plugin, expanded, place) && this.#failed.length === 0
    const json = expanded === undefined || isNull(expanded.value) ? undefined : toJson(expanded.value)
    if (!fits) return { row: row('broken', { why: 'its config is not valid', loaded }, expanded), place, source }
    return { row: row('active', { loaded, config: json }, expanded), place, source }
  }

  #head(): { readonly value: RowHead; readonly located: Located } | undefined {
    const { value } = this.#entry
    if (!ROW_ID.test(this.#id)) {
      this.#report(this.#entry.key, 'CATALOG_SHAPE', `"${this.#id}" cannot be the id of a row`, { hint: 'use letters, digits, - and _' })
      return undefined
    }
    if (value.kind !== 'map') {
      const hint = isNull(value) ? 'write the plugin behind the colon, or `disabled: true` in a map' : 'write `id: plugin`, or a map with `use`'
      this.#report(value.place, 'CATALOG_SHAPE', `row "${this.#id}": expected a plugin or a map, got ${what(value)}`, { hint })
      return undefined
    }
    const entries = new Map(value.entries)
    const config = entries.get('with')
    entries.delete('with')
    const expanded = this.#expand({ ...value, entries })
    const located = expanded.kind === 'map' && config !== undefined && !isNull(config.value) ? withEntry(expanded, 'with', config) : expanded
    const checked = checkAgainst(RowHead, toJson(located))
    if (!checked.ok) {
      for (const fault of checked.faults) this.#headFault(fault, { ...this.#entry, value: located })
      return undefined
    }
    if (this.#failed.length > 0) return undefined
    this.#optional = checked.value.criticality === 'optional'
    const range = checked.value.when?.node
    if (range !== undefined && comparisons(range) === undefined) {
      const place = placeOf({ ...this.#entry, value: located }, ['when', 'node'])
      this.#report(place, 'CATALOG_SHAPE', `row "${this.#id}": when.node: ${JSON.stringify(range)} cannot be read`, {
        hint: 'write it like ">=20.19 <23"',
      })
      return undefined
    }
    return { value: checked.value, located }
  }

  #headFault(fault: SchemaFault, root: LocatedEntry): void {
    const missingUse = fault.path.length === 1 && fault.path[0] === 'use' && this.#child(root.value, 'use') === undefined
    if (!missingUse) {
      this.#schemaFault(fault, root, ['CATALOG_SHAPE', 'CATALOG_UNKNOWN_KEY'])
      return
    }
    const meant = didYouMean(
      this.#id,
      this.#context.ids.filter((id) => id !== this.#id),
    )
    const hint = meant === undefined ? 'write `use: PLUGIN`' : `write \`use: PLUGIN\`; or did you mean the row "${meant}"?`
    this.#report(root.key, 'CATALOG_SHAPE', `row "${this.#id}" names no plugin`, { hint })
  }

  #checkConfig(plugin: Plugin, config: LocatedEntry | undefined, use: Place): boolean {
    const schema = plugin.config
    if (schema === undefined) return this.#acceptsNothing(plugin, config)
    const given = config === undefined || isNull(config.value) ? undefined : toJson(config.value)
    const checked = checkAgainst(schema, given)
    if (checked.ok) return true
    // Without `with`, the keys that have no default say more than "expected a map".
    const inner = given === undefined ? checkAgainst(schema, {}) : checked
    const root = config ?? { key: use, value: { kind: 'map', entries: new Map(), place: use } as const }
    for (const fault of inner.ok ? checked.faults : inner.faults) this.#schemaFault(fault, root, ['CONFIG_INVALID', 'CONFIG_UNKNOWN_KEY'])
    return false
  }

  #acceptsNothing(plugin: Plugin, config: LocatedEntry | undefined): boolean {
    if (config?.value.kind !== 'map' || config.value.entries.size === 0) return true
    for (const [key, { key: place }] of config.value.entries) {
      this.#report(place, 'CONFIG_UNKNOWN_KEY', `row "${this.#id}": ${key}: the plugin "${plugin.name}" takes no config`, {
        hint: this.#inheritedHint(place) ?? 'remove it',
      })
    }
    return false
  }

  #schemaFault(fault: SchemaFault, root: LocatedEntry, [invalid, unknownKey]: readonly [DiagnosticCode, DiagnosticCode]): void {
    const { kind, path: at, message, hint } = fault
    const label = (steps: Path): string => (steps.length === 0 ? '' : `${steps.join('.')}: `)
    const unknown = kind === 'unknown-key'
    const place = unknown ? keyPlaceOf(root, at) : placeOf(root, at)
    if (!unknown && this.#failed.some((failed) => lies(failed, place))) return
    const text = `row "${this.#id}": ${label(unknown ? at.slice(0, -1) : at)}${message}`
    this.#report(place, unknown ? unknownKey : invalid, text, { hint: (unknown ? this.#inheritedHint(place) : undefined) ?? hint })
  }

  /** `with` merges with that of the files below even where the row now names another plugin. */
  #inheritedHint(place: Place): string | undefined {
    const use = this.#child(this.#entry.value, 'use')?.value.place.source.path
    const below = this.#context.files.indexOf(place.source.path)
    if (use === undefined || below <= this.#context.files.indexOf(use)) return undefined
    return `the row names its plugin in ${use}; take this key away there with \`$unset\`, or write \`$replace\` in \`with\``
  }

  #child(node: Located, key: string): LocatedEntry | undefined {
    return node.kind === 'map' ? node.entries.get(key) : undefined
  }

  #expand(node: Located): Located {
    return expand(node, this.#context.host.env, (diagnostic) => {
      if (diagnostic.severity === 'error') this.#failed.push(diagnostic)
      this.#push(diagnostic)
    })
  }

  #report(place: Place, code: DiagnosticCode, message: string, details: DiagnosticDetails): void {
    this.#push(diagnose(place, code, message, { row: this.#id, ...details }))
  }

  #push(diagnostic: Diagnostic): void {
    this.diagnostics.push({ ...diagnostic, row: this.#id, severity: this.#optional ? 'warning' : diagnostic.severity })
  }
}

/** The value of an expression that failed is no second fault. */
function lies(inner: Position, { source, start, end }: Place): boolean {
  const [from, to] = [source.position(start), source.position(end)]
  if (inner.file !== source.path || inner.line < from.line || inner.line > to.line) return false
  return (inner.line > from.line || inner.column >= from.column) && (inner.line < to.line || inner.column <= to.column)
}

function withEntry(map: Extract<Located, { kind: 'map' }>, key: string, value: LocatedEntry): Located {
  return { ...map, entries: new Map([...map.entries, [key, value]]) }
}

function isNull(node: Located): boolean {
  return node.kind === 'scalar' && node.value === null
}

function what(node: Located): string {
  return node.kind === 'list' ? 'a list' : JSON.stringify(toJson(node))
}

function originsOf(head: Located, config: LocatedEntry | undefined): readonly Origin[] {
  const whole = config === undefined || head.kind !== 'map' ? head : withEntry(head, 'with', config)
  return [...leaves(whole)].map(({ path: at, leaf }) => ({ path: at, value: leaf.value as Json, ...positionOf(leaf.place) }))
}
