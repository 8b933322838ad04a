import { CodedError, didYouMean, type Json } from '@tenon/kernel'
import { type Diagnostic, diagnose } from './diagnostic.ts'
import { isExpression } from './expression.ts'
import { entry, type Located, type LocatedEntry, type LocatedMap, toJson } from './located.ts'
import { parseYaml } from './parse-yaml.ts'
import { plainScalar } from './plain-scalar.ts'
import { type Place, SourceText } from './source-text.ts'

/** A value as it would stand in a file without quotes: an expression takes the type of what it becomes. In JSON every text has quotes. */
export class Unquoted {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type SettingValue = Json | Unquoted

/** Changes on top of a catalog file that are not written into it. */
export interface CatalogEdit {
  /** `row.path.in.its.config` → value. A map replaces the map that was there; an expression in a text becomes a text. */
  readonly set?: Readonly<Record<string, SettingValue>>
  readonly enable?: readonly string[]
  readonly disable?: readonly string[]
}

export class SettingError extends CodedError<'SETTING_INVALID'> {}

/** Begins what YAML reads as more than a text, or not at all. */
const SYNTAX = /^["'[{*&!%@`|>]/

/** @throws SettingError unless the text is `row.path=value`; the value is read as YAML, one without quotes or brackets as the text it is. */
export function parseSetting(text: string): readonly [path: string, value: SettingValue] {
  const split = text.indexOf('=')
  const path = text.slice(0, Math.max(split, 0)).trim()
  if (split === -1 || !/^[^.]+(\.[^.]+)+$/.test(path)) {
    throw new SettingError('SETTING_INVALID', `${JSON.stringify(text)} is not of the form row.path=value; write it like shell.timeoutMs=60000`)
  }
  const value = text.slice(split + 1).trim()
  const bare = !SYNTAX.test(value)
  if (bare && !value.includes('\n')) return [path, unquoted(value)]
  const { root, diagnostics } = parseYaml(new SourceText('set', value))
  const [fault] = diagnostics
  if (fault !== undefined) {
    const advice = /^[*&!%@`]/.test(value) ? `; a text that starts with ${value[0]} takes quotes inside the setting: ${path}='${value}'` : ''
    throw new SettingError('SETTING_INVALID', `the value of ${path} is not YAML: ${fault.message}${advice}`)
  }
  return [path, bare || root === undefined || (root.kind === 'scalar' && root.plain) ? unquoted(value) : toJson(root)]
}

function unquoted(text: string): SettingValue {
  return isExpression(text) ? new Unquoted(text) : plainScalar(text)
}

/** A setting as diagnostics show it. */
export function settingText(path: string, value: SettingValue): string {
  return `${path}=${value instanceof Unquoted ? value.text : JSON.stringify(value)}`
}

/** The later edit wins; a setting also over those of an earlier edit that lie inside it. */
export function combineEdits(first: CatalogEdit, second: CatalogEdit): CatalogEdit {
  const later = Object.keys(second.set ?? {})
  const standing = Object.entries(first.set ?? {}).filter(([path]) => !later.some((other) => path === other || path.startsWith(`${other}.`)))
  const enabled = new Set(second.enable)
  const disabled = new Set(second.disable)
  return {
    set: { ...Object.fromEntries(standing), ...second.set },
    enable: [...(first.enable ?? []).filter((id) => !disabled.has(id)), ...enabled],
    disable: [...(first.disable ?? []).filter((id) => !enabled.has(id)), ...disabled],
  }
}

/** The edit as one more layer of rows, as if it were written in a file of `folder`; what names no row is reported. */
export function layerOf(edit: CatalogEdit, rows: LocatedMap, folder: string, report: (diagnostic: Diagnostic) => void): LocatedMap {
  const layer = new Map<string, LocatedEntry>()
  const placeIn = (label: string, text: string, start: number, end = text.length): Place => ({
    source: new SourceText(label, text, folder),
    start,
    end,
  })
  const known = (id: string, place: Place): boolean => {
    if (rows.entries.has(id)) return true
    const meant = didYouMean(id, rows.entries.keys())
    const hint = meant === undefined ? `rows: ${[...rows.entries.keys()].join(', ')}` : `did you mean "${meant}"?`
    report(diagnose(place, 'ROW_UNKNOWN', `there is no row "${id}"`, { hint }))
    return false
  }
  for (const [path, value] of Object.entries(edit.set ?? {})) {
    const text = settingText(path, value)
    const place = placeIn('set', text, path.length + 1)
    const [id = '', ...steps] = path.split('.')
    if (known(id, placeIn('set', text, 0, id.length))) put(layer, [id, 'with', ...steps], located(value, place), placeIn('set', text, 0, path.length))
  }
  for (const [label, ids] of [['enable', edit.enable ?? []] as const, ['disable', edit.disable ?? []] as const]) {
    for (const id of ids) {
      const place = placeIn(label, id, 0)
      if (known(id, place)) put(layer, [id, 'disabled'], located(label === 'disable', place), place)
    }
  }
  const source = new SourceText('edit', '', folder)
  return { kind: 'map', entries: layer, place: { source, start: 0, end: 0 } }
}

function put(entries: Map<string, LocatedEntry>, [key = '', ...rest]: readonly string[], value: Located, place: Place): void {
  const inner = entries.get(key)?.value
  if (rest.length === 0) {
    entries.set(key, { key: place, value: value.kind === 'map' ? only('$replace', value, place) : value })
    return
  }
  // Inside of what an earlier setting replaces, it is the replacement that is changed.
  const whole = entry(inner, '$replace')?.value
  const below = new Map(whole?.kind === 'map' ? whole.entries : inner?.kind === 'map' ? inner.entries : [])
  put(below, rest, value, place)
  const map = { kind: 'map', entries: below, place } as const
  entries.set(key, { key: place, value: whole === undefined ? map : only('$replace', map, place) })
}

function only(key: string, value: Located, place: Place): LocatedMap {
  return { kind: 'map', entries: new Map([[key, { key: place, value }]]), place }
}

function located(value: SettingValue, place: Place): Located {
  if (value instanceof Unquoted) return { kind: 'scalar', value: value.text, plain: true, place }
  if (Array.isArray(value)) return { kind: 'list', items: value.map((item: Json) => located(item, place)), place }
  if (typeof value === 'object' && value !== null) {
    return { kind: 'map', entries: new Map(Object.entries(value).map(([key, inner]) => [key, { key: place, value: located(inner, place) }])), place }
  }
  return { kind: 'scalar', value: value as string | number | boolean | null, plain: false, place }
}
