import { didYouMean, type Json } from '@tenon/kernel'
import { comparisons } from './applies.ts'
import { ROW_ID, RowHead } from './catalog-schema.ts'
import { entry as child, isNull, type Located, type LocatedEntry, placeOf, toJson, withEntry } from './located.ts'
import type { RowFaults } from './row-faults.ts'
import { checkAgainst, type SchemaFault } from './schema-faults.ts'

/** The part of a row that says which plugin it is and whether it applies. */
export interface ReadHead {
  readonly value: RowHead
  /** Expressions replaced, except in `with`. */
  readonly located: Located
  /** Keys with a wrong form were left out, and reported: the row cannot run, but what it says beside them still holds. */
  readonly malformed: boolean
}

/** Undefined if nobody can tell which plugin the row names. `ids`: of all rows. */
export function readHead(id: string, entry: LocatedEntry, ids: readonly string[], faults: RowFaults): ReadHead | undefined {
  const { value } = entry
  if (!ROW_ID.test(id)) {
    faults.report(entry.key, 'CATALOG_SHAPE', 'an id starts with a letter or digit and holds letters, digits, - and _', {
      hint: 'write another id',
    })
    return undefined
  }
  if (value.kind !== 'map') {
    const { message, hint } = noRow(value)
    faults.report(value.place, 'CATALOG_SHAPE', message, { hint })
    return undefined
  }
  const entries = new Map(value.entries)
  const config = entries.get('with')
  entries.delete('with')
  const expanded = faults.expand({ ...value, entries })
  const located = config === undefined || isNull(config.value) ? expanded : withEntry(expanded, 'with', config)
  return checkHead(id, { ...entry, value: located }, ids, faults)
}

/** What is wrong with a value that is neither a plugin nor a map. */
export function noRow(value: Located): { readonly message: string; readonly hint: string } {
  const got = value.kind === 'list' ? 'a list' : JSON.stringify(toJson(value))
  const hint = isNull(value) ? 'write the plugin behind the colon, or `disabled: true` in a map' : 'write `id: plugin`, or a map with `use`'
  return { message: `expected a plugin or a map, got ${got}`, hint }
}

function checkHead(id: string, root: LocatedEntry, ids: readonly string[], faults: RowFaults): ReadHead | undefined {
  const use = child(root.value, 'use')?.value
  const json = toJson(root.value)
  const checked = checkAgainst(RowHead, json)
  if (!checked.ok) {
    for (const fault of checked.faults) {
      if (namesNoPlugin(fault, root)) faults.report(root.key, 'CATALOG_SHAPE', 'names no plugin', { hint: noPluginHint(id, ids) })
      else faults.reportSchema(fault, root, { invalid: 'CATALOG_SHAPE', unknownKey: 'CATALOG_UNKNOWN_KEY' })
    }
  }
  if (faults.anyExpressionFailed && use?.kind === 'scalar' && use.written !== undefined) return undefined
  const value = checked.ok ? checked.value : withoutFaults(json, checked.faults)
  if (value === undefined) return undefined
  const range = value.when?.node
  const unreadable = range !== undefined && comparisons(range) === undefined
  if (unreadable) {
    const hint = 'write it like ">=20.19 <23"'
    faults.report(placeOf(root, ['when', 'node']), 'CATALOG_SHAPE', `when.node: ${JSON.stringify(range)} cannot be read`, { hint })
  }
  return { value, located: root.value, malformed: !checked.ok || unreadable || faults.anyExpressionFailed }
}

/** What is left of a row once every key with a fault is gone; undefined if `use` is among them. */
function withoutFaults(json: Json, faults: readonly SchemaFault[]): RowHead | undefined {
  const wrong = new Set(faults.map(({ path: [key] }) => String(key)))
  const rest = checkAgainst(RowHead, Object.fromEntries(Object.entries(json as object).filter(([key]) => !wrong.has(key))))
  return rest.ok ? rest.value : undefined
}

function namesNoPlugin({ path }: SchemaFault, { value }: LocatedEntry): boolean {
  return path.length === 1 && path[0] === 'use' && child(value, 'use') === undefined
}

/** A misspelt id makes a row of its own out of what should change another. */
function noPluginHint(id: string, ids: readonly string[]): string {
  const others = ids.filter((other) => other !== id)
  const meant = didYouMean(id, others)
  return meant === undefined ? 'write `use: PLUGIN`' : `write \`use: PLUGIN\`; or did you mean the row "${meant}"?`
}
