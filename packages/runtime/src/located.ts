import type { Json } from '@tenon/kernel'
import type { Place } from './source-text.ts'

/** What a catalog says, with the place of every key and value, whatever file it came from. */
export type Located = LocatedScalar | LocatedList | LocatedMap

export interface LocatedScalar {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  /** Written without quotes, so an expression in it takes the type of what it becomes. */
  readonly plain: boolean
  /** The text with its expressions, where they have been replaced in `value`. */
  readonly written?: string
  readonly place: Place
}

export interface LocatedList {
  readonly kind: 'list'
  readonly items: readonly Located[]
  readonly place: Place
}

export interface LocatedMap {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, LocatedEntry>
  readonly place: Place
}

export interface LocatedEntry {
  readonly key: Place
  readonly value: Located
}

export type Path = readonly PropertyKey[]

export function toJson(node: Located): Json {
  switch (node.kind) {
    case 'scalar':
      return node.value
    case 'list':
      return node.items.map(toJson)
    case 'map':
      // `fromEntries` defines properties: a key `__proto__` stays an ordinary key.
      return Object.fromEntries([...node.entries].map(([key, { value }]) => [key, toJson(value)]))
  }
}

export function entry(node: Located | undefined, key: string): LocatedEntry | undefined {
  return node?.kind === 'map' ? node.entries.get(key) : undefined
}

export function isNull(node: Located): boolean {
  return node.kind === 'scalar' && node.value === null
}

/** A map with one more entry, or another one; anything else stays as it is. */
export function withEntry(node: Located, key: string, value: LocatedEntry): Located {
  return node.kind === 'map' ? { ...node, entries: new Map([...node.entries, [key, value]]) } : node
}

export function nodeAt(root: LocatedEntry, path: Path): Located | undefined {
  let here: LocatedEntry | undefined = root
  for (const step of path) here = here && child(here.value, step)
  return here?.value
}

/** The place of the value at `path`, or of the nearest parent's key if something on the way is missing. */
export function placeOf(root: LocatedEntry, path: Path): Place {
  let here = root
  for (const step of path) {
    const next: LocatedEntry | undefined = child(here.value, step)
    if (next === undefined) return here.key
    here = next
  }
  return here.value.place
}

/** The place of the key at the end of `path`. */
export function keyPlaceOf(root: LocatedEntry, path: Path): Place {
  let here = root
  for (const step of path) here = child(here.value, step) ?? here
  return here.key
}

function child(node: Located, step: PropertyKey): LocatedEntry | undefined {
  if (node.kind === 'map') return node.entries.get(String(step))
  const item = node.kind === 'list' ? node.items[Number(step)] : undefined
  return item && { key: item.place, value: item }
}

/** Every scalar below, with its path written with dots. */
export function* leaves(node: Located, path = ''): Generator<{ readonly path: string; readonly leaf: LocatedScalar }> {
  const at = (step: string): string => (path === '' ? step : `${path}.${step}`)
  if (node.kind === 'scalar') yield { path, leaf: node }
  else if (node.kind === 'list') for (const [index, item] of node.items.entries()) yield* leaves(item, at(String(index)))
  else for (const [key, { value }] of node.entries) yield* leaves(value, at(key))
}
