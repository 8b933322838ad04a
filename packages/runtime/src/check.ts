import path from 'node:path'
import { compositions, type FirstPartyPlugin, firstParty } from '@tenon/catalog'
import type { Plugin } from '@tenon/kernel'
import type { Host } from './applies.ts'
import { type CheckedRow, checkCapabilities, type IdleRow } from './capability-check.ts'
import { type CatalogEdit, layerOf } from './catalog-edit.ts'
import type { Composition } from './composition.ts'
import { type Diagnostic, diagnose, hasErrors, inReadingOrder } from './diagnostic.ts'
import { readLayers } from './layers.ts'
import type { LocatedMap } from './located.ts'
import { merge } from './merge.ts'
import { type LoadOutcome, PluginLoader } from './plugin-loader.ts'
import { type PluginSource, sourceKey } from './plugin-source.ts'
import { type ReadRow, readRow } from './read-row.ts'
import type { SourceFiles } from './source-files.ts'

export interface CheckOptions {
  /** On top of the file. */
  readonly edit?: CatalogEdit
  /** Default: of this process. */
  readonly host?: Partial<Host>
  /** Default: those of @tenon/catalog. */
  readonly firstParty?: readonly FirstPartyPlugin[]
}

export interface CheckReport {
  /** No diagnostic is an error: the composition fits together. */
  readonly ok: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** As far as it can be told. */
  readonly composition: Composition
  /** Files whose change could make this report another: catalog files and sources of plugins, also missing ones. */
  readonly watched: SourceFiles
}

/**
 * Reads a catalog file, loads the modules its rows name, and reports every fault at once. Nothing is activated. Never rejects for a
 * fault of the file or of a plugin.
 */
export function checkCatalog(file: string, options: CheckOptions = {}): Promise<CheckReport> {
  return new CatalogCheck(options).run(file)
}

/** A check that can be repeated: code that is loaded stays loaded until it is asked for anew. */
export class CatalogCheck {
  readonly loader: PluginLoader
  readonly #options: CheckOptions
  readonly #host: Host

  constructor(options: CheckOptions = {}) {
    this.#options = options
    this.#host = { platform: process.platform, env: process.env, nodeVersion: process.versions.node, ...options.host }
    this.loader = new PluginLoader(options.firstParty ?? firstParty)
  }

  /** `load` stands in for the loader, to keep code that is loaded. */
  async run(file: string, edit = this.#options.edit, load = (source: PluginSource) => this.loader.load(source)): Promise<CheckReport> {
    const layers = await readLayers(file, { env: this.#host.env, builtIn: compositions })
    const diagnostics = [...layers.diagnostics]
    const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic)
    const merged =
      edit === undefined
        ? layers.rows
        : (merge(layers.rows, layerOf(edit, layers.rows, path.dirname(path.resolve(file)), report), report) as LocatedMap)
    const files = [...layers.files.keys()]
    const read = await this.#readRows(merged, files, once(load))
    diagnostics.push(...read.flatMap((row) => row.diagnostics))
    diagnostics.push(...(await checkCapabilities({ rows: checkedRows(read), idle: this.#idleRows(read), files, known: () => this.#known() })))
    const rows = read.flatMap(({ row }) => (row === undefined ? [] : [row]))
    if (rows.length === 0 && !hasErrors(diagnostics)) {
      report(
        diagnose(merged.place, 'CATALOG_SHAPE', 'the catalog has no rows', {
          hint: 'write `plugins:` and below it `id: plugin`',
          severity: 'warning',
        }),
      )
    }
    const sources = read.flatMap(({ row, fault }) => [...(row?.loaded?.files ?? []), ...(fault?.files ?? [])])
    const composition: Composition = { name: layers.name, file: path.resolve(file), files, rows }
    return {
      ok: !hasErrors(diagnostics),
      diagnostics: inReadingOrder(diagnostics),
      composition,
      watched: new Map([...layers.files, ...sources]),
    }
  }

  #readRows(rows: LocatedMap, files: readonly string[], load: (source: PluginSource) => Promise<LoadOutcome>): Promise<ReadRow[]> {
    const ids = [...rows.entries.keys()].toSorted()
    const context = { host: this.#host, ids, files, load, sourceOf: (use: string, folder: string) => this.loader.sourceOf(use, folder) }
    return Promise.all([...rows.entries].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([id, entry]) => readRow(id, entry, context)))
  }

  #idleRows(read: readonly ReadRow[]): readonly IdleRow[] {
    return read.flatMap(({ id, row, claim, source, fault }): IdleRow[] => {
      if (row === undefined) {
        // Which plugin is meant cannot be told, but most rows are named after it, or after what it provides.
        const provides = async (): Promise<readonly string[]> => [id, ...((await this.#known()).get(id) ?? [])]
        return [{ id, why: 'its form is not valid', broken: true, optional: false, claim, provides }]
      }
      if (row.state === 'active' || source === undefined) return []
      const provides = async (): Promise<readonly string[] | undefined> => {
        if (row.loaded !== undefined) return keysOf(row.loaded.plugin)
        if (fault?.meant !== undefined) return (await this.#known()).get(fault.meant)
        const outcome = row.state === 'broken' ? undefined : await this.loader.load(source)
        return outcome?.ok === true ? keysOf(outcome.plugin) : undefined
      }
      const why = row.state === 'skipped' ? `it is skipped here: ${row.why}` : (row.why ?? row.state)
      return [{ id: row.id, why, broken: row.state === 'broken', optional: row.optional, claim, provides }]
    })
  }

  async #known(): Promise<ReadonlyMap<string, readonly string[]>> {
    const loaded = await Promise.all(
      this.loader.firstParty.map(async (name) => [name, await this.loader.load({ kind: 'first-party', name })] as const),
    )
    return new Map(loaded.map(([name, outcome]) => [name, outcome.ok ? keysOf(outcome.plugin) : []]))
  }
}

function checkedRows(read: readonly ReadRow[]): readonly CheckedRow[] {
  return read.flatMap(({ row, malformed, place, claim }) => {
    // A row with an invalid config still claims what it provides: that it is gone too would be a second report of one fault.
    if (row?.loaded === undefined || malformed) return []
    return [{ id: row.id, plugin: row.loaded.plugin, place, claim, optional: row.optional, broken: row.state === 'broken' }]
  })
}

function keysOf(plugin: Plugin): readonly string[] {
  return plugin.provides.map(({ key }) => key)
}

/** Rows that name one source share its code. */
export function once(load: (source: PluginSource) => Promise<LoadOutcome>): (source: PluginSource) => Promise<LoadOutcome> {
  const outcomes = new Map<string, Promise<LoadOutcome>>()
  return (source) => {
    const key = sourceKey(source)
    const outcome = outcomes.get(key) ?? load(source)
    outcomes.set(key, outcome)
    return outcome
  }
}
