import type { Json } from '@tenon/kernel'
import { type Host, whyNot } from './applies.ts'
import type { CompositionRow, Origin } from './composition.ts'
import type { Diagnostic } from './diagnostic.ts'
import { entry as child, isNull, type Located, type LocatedEntry, leaves, toJson, withEntry } from './located.ts'
import type { LoadFault, LoadOutcome } from './plugin-loader.ts'
import type { PluginSource } from './plugin-source.ts'
import { checkConfig } from './row-config.ts'
import { RowFaults } from './row-faults.ts'
import { type ReadHead, readHead } from './row-head.ts'
import { type Place, positionOf } from './source-text.ts'

export interface RowContext {
  readonly host: Host
  /** Of all rows. */
  readonly ids: readonly string[]
  /** Each before those it extends. */
  readonly files: readonly string[]
  sourceOf(use: string, folder: string): PluginSource
  load(source: PluginSource): Promise<LoadOutcome>
}

export interface ReadRow {
  readonly id: string
  /** Undefined for a row whose plugin cannot be told. */
  readonly row: CompositionRow | undefined
  /** Its own form is wrong: whether it would apply is not known, so it claims nothing. */
  readonly malformed: boolean
  /** Of `use`; where faults of the whole row are shown. */
  readonly place: Place
  /** What makes the row run, in the nearest file that says so. */
  readonly claim: Place
  readonly source?: PluginSource
  readonly fault?: LoadFault
  readonly diagnostics: readonly Diagnostic[]
}

/** One row from its merged text to a checked config. Nothing of a row that does not apply is expanded, loaded or imported. */
export async function readRow(id: string, entry: LocatedEntry, context: RowContext): Promise<ReadRow> {
  const faults = new RowFaults(id, context.host.env)
  const { diagnostics } = faults
  const head = readHead(id, entry, context.ids, faults)
  if (head === undefined) return { id, row: undefined, malformed: true, place: entry.key, claim: entry.key, diagnostics }
  faults.optional = head.value.criticality === 'optional'
  const { malformed } = head
  const place = (child(head.located, 'use') ?? entry).value.place
  const claim = claimOf(head.located, place, context.files)
  const source = context.sourceOf(head.value.use, place.source.folder)
  const idle = idleState(head, context.host)
  const base = { id, use: head.value.use, position: positionOf(place), optional: faults.optional, config: undefined }
  if (idle !== undefined) return { id, row: { ...base, ...idle, origins: originsOf(head.located) }, malformed, place, claim, source, diagnostics }

  const outcome = await context.load(source)
  const written = child(head.located, 'with')
  const config = written && { ...written, value: faults.expand(written.value) }
  const origins = originsOf(config === undefined ? head.located : withEntry(head.located, 'with', config))
  if (!outcome.ok) {
    const { fault } = outcome
    faults.report(place, fault.code, fault.message, { hint: fault.hint })
    return { id, row: { ...base, state: 'broken', why: fault.message, origins }, malformed, place, claim, source, fault, diagnostics }
  }
  const { ok: _, ...loaded } = outcome
  const usable = config?.value.kind === 'map' || config === undefined || isNull(config.value) || !malformed
  const fits = usable && checkConfig(loaded.plugin, config, { files: context.files, use: place }, faults) && !faults.anyExpressionFailed
  if (malformed)
    return { id, row: { ...base, state: 'broken', why: 'its form is not valid', loaded, origins }, malformed, place, claim, source, diagnostics }
  if (!fits)
    return { id, row: { ...base, state: 'broken', why: 'its config is not valid', loaded, origins }, malformed, place, claim, source, diagnostics }
  const value = config === undefined || isNull(config.value) ? undefined : toJson(config.value)
  return { id, row: { ...base, state: 'active', loaded, config: value, origins }, malformed, place, claim, source, diagnostics }
}

function idleState({ value }: ReadHead, host: Host): { readonly state: 'disabled' | 'skipped'; readonly why: string } | undefined {
  if (value.disabled) return { state: 'disabled', why: 'it is disabled' }
  const why = value.when === undefined ? undefined : whyNot(value.when, host)
  return why === undefined ? undefined : { state: 'skipped', why }
}

/** A row of an extended file runs because it is named there, unless a file above it has put it in. */
function claimOf(row: Located, use: Place, files: readonly string[]): Place {
  const keys = row.kind === 'map' ? [...row.entries].filter(([key]) => key !== 'with').map(([, { key }]) => key) : []
  const [nearest = use] = [use, ...keys].toSorted((a, b) => files.indexOf(a.source.path) - files.indexOf(b.source.path))
  return nearest
}

/** As written: what an expression stands for may be a secret. */
function originsOf(row: Located): readonly Origin[] {
  return [...leaves(row)].map(({ path, leaf }) => ({ path, value: (leaf.written ?? leaf.value) as Json, ...positionOf(leaf.place) }))
}
