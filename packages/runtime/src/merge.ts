import { didYouMean } from '@tenon/kernel'
import { type Diagnostic, diagnose } from './diagnostic.ts'
import type { Located, LocatedEntry, LocatedMap } from './located.ts'

type Report = (diagnostic: Diagnostic) => void

/**
 * `over` on top of `base`: maps are merged key by key, anything else replaces. In a map, `$unset: [key]` takes keys of the base away,
 * and `$replace: value` stands for the value instead of the merged map. Both parts keep their places.
 */
export function merge(base: Located | undefined, over: Located, report: Report): Located {
  // A list replaces, and so does each item: there is nothing below it to be kept or taken away.
  if (over.kind === 'list') return { ...over, items: over.items.map((item) => merge(undefined, item, report)) }
  if (over.kind !== 'map') return over
  const replacement = over.entries.get('$replace')
  if (replacement !== undefined) {
    for (const [key, { key: place }] of over.entries) {
      if (key !== '$replace')
        report(diagnose(place, 'CATALOG_SHAPE', `"${key}" has no effect beside $replace`, { hint: 'put it inside the value of $replace' }))
    }
    return merge(undefined, replacement.value, report)
  }
  const below = base?.kind === 'map' ? base : undefined
  const entries = new Map<string, LocatedEntry>(below?.entries)
  const unset = over.entries.get('$unset')
  if (unset !== undefined) for (const key of keysToUnset(unset.value, below, report)) entries.delete(key)
  for (const [key, { key: place, value }] of over.entries) {
    if (key !== '$unset') entries.set(key, { key: place, value: merge(entries.get(key)?.value, value, report) })
  }
  return { kind: 'map', entries, place: over.place }
}

function* keysToUnset(unset: Located, base: LocatedMap | undefined, report: Report): Generator<string> {
  for (const item of unset.kind === 'list' ? unset.items : [unset]) {
    if (item.kind !== 'scalar' || typeof item.value !== 'string') {
      report(diagnose(item.place, 'CATALOG_SHAPE', '$unset takes the names of keys', { hint: 'write $unset: [name, name]' }))
    } else if (base?.entries.has(item.value) !== true) {
      const meant = didYouMean(item.value, base?.entries.keys() ?? [])
      const hint = meant === undefined ? 'remove the name' : `did you mean "${meant}"?`
      report(diagnose(item.place, 'CATALOG_UNKNOWN_KEY', `$unset: there is no "${item.value}" below to take away`, { hint, severity: 'warning' }))
    } else {
      yield item.value
    }
  }
}

/** Every row in its long form, so that a short row and a long one merge. */
export function longRows(rows: Located): Located {
  if (rows.kind !== 'map') return rows
  return { ...rows, entries: new Map([...rows.entries].map(([id, row]) => [id, id.startsWith('$') ? row : { ...row, value: longRow(row) }])) }
}

function longRow({ value }: LocatedEntry): Located {
  if (value.kind !== 'scalar' || typeof value.value !== 'string') return value
  return { kind: 'map', entries: new Map([['use', { key: value.place, value }]]), place: value.place }
}
