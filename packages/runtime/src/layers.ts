import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { didYouMean } from '@tenon/kernel'
import { CatalogHead } from './catalog-schema.ts'
import { type Diagnostic, diagnose } from './diagnostic.ts'
import { type Environment, expand } from './expression.ts'
import { homePath } from './home-path.ts'
import { entry, keyPlaceOf, type Located, type LocatedMap, placeOf, toJson } from './located.ts'
import { longRows, merge } from './merge.ts'
import { parseYaml } from './parse-yaml.ts'
import { noRow } from './row-head.ts'
import { checkAgainst } from './schema-faults.ts'
import { fingerprint, MISSING, readSource, type SourceFiles } from './source-files.ts'
import { type Place, SourceText } from './source-text.ts'

/** What a catalog file says once everything it extends lies under it. */
export interface Layers {
  readonly name: string
  /** Every file that was read, or looked for, in the order it was named. */
  readonly files: SourceFiles
  readonly rows: LocatedMap
  readonly diagnostics: readonly Diagnostic[]
}

export interface LayersOptions {
  readonly env: Environment
  /** Names that `extends` may use in place of a path → absolute path. */
  readonly builtIn?: Readonly<Record<string, string>>
}

export async function readLayers(file: string, options: LayersOptions): Promise<Layers> {
  const reader = new LayersReader(options)
  const absolute = path.resolve(file)
  const source = new SourceText(absolute, '')
  const catalog = await reader.read(absolute, { source, start: 0, end: 0 }, [])
  const rows = catalog?.rows ?? { kind: 'map', entries: new Map(), place: { source, start: 0, end: 0 } }
  const name = catalog?.name ?? path.basename(absolute).replace(/\.[^.]+$/, '')
  return { name, files: reader.files, rows, diagnostics: reader.diagnostics }
}

interface Catalog {
  readonly name: string | undefined
  readonly rows: LocatedMap | undefined
}

class LayersReader {
  readonly files = new Map<string, string>()
  readonly diagnostics: Diagnostic[] = []
  readonly #options: LayersOptions
  /** A file that is extended on several ways is read once: there can be more ways than anybody waits for. */
  readonly #read = new Map<string, Catalog | undefined>()

  constructor(options: LayersOptions) {
    this.#options = options
  }

  /** `named` is where the file is named; `above` the files that extend it, the outermost first. */
  async read(file: string, named: Place, above: readonly string[]): Promise<Catalog | undefined> {
    if (above.includes(file)) {
      const ring = [...above.slice(above.indexOf(file)), file].map((member) => path.basename(member)).join(' → ')
      const message = above.at(-1) === file ? 'the catalog file extends itself' : `catalog files extend each other: ${ring}`
      return this.#refuse(named, 'CATALOG_EXTENDS_CYCLE', message, above.at(-1) === file ? 'remove it' : 'remove one `extends` of the ring')
    }
    if (this.#read.has(file)) return this.#read.get(file)
    const catalog = await this.#readAnew(file, named, above)
    this.#read.set(file, catalog)
    return catalog
  }

  async #readAnew(file: string, named: Place, above: readonly string[]): Promise<Catalog | undefined> {
    this.files.set(file, MISSING)
    const source = await this.#source(file, named)
    const root = source && this.#root(source)
    if (root === undefined) return undefined
    const rows = await this.#rows(root, file, above)
    const name = entry(root, 'name')?.value
    return { name: name?.kind === 'scalar' && typeof name.value === 'string' ? name.value : undefined, rows }
  }

  async #source(file: string, named: Place): Promise<SourceText | undefined> {
    try {
      const content = await readSource(file)
      this.files.set(file, fingerprint(content))
      return new SourceText(file, new TextDecoder('utf-8', { fatal: true }).decode(content))
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      const why =
        code === 'ENOENT'
          ? 'there is no such file'
          : code === 'EISDIR'
            ? 'it is a directory'
            : code === 'EACCES'
              ? 'you have no permission'
              : error instanceof TypeError
                ? 'it is not UTF-8 text'
                : (error as Error).message
      return this.#refuse(
        named,
        'CATALOG_UNREADABLE',
        `cannot read the catalog file ${file}: ${why}`,
        code === 'ENOENT' ? await nearName(file) : code === 'EISDIR' ? await catalogIn(file) : undefined,
      )
    }
  }

  #root(source: SourceText): LocatedMap | undefined {
    const { root, diagnostics } = parseYaml(source)
    this.diagnostics.push(...diagnostics)
    const start: Place = { source, start: 0, end: 0 }
    const form = 'a catalog file is a map: `plugins:` with one row per plugin below it'
    if (root === undefined) return diagnostics.length > 0 ? undefined : this.#refuse(start, 'CATALOG_SHAPE', 'the catalog file is empty', form)
    if (root.kind !== 'map') {
      const what = root.kind === 'list' ? 'a list' : 'a single value'
      return this.#refuse(root.place, 'CATALOG_SHAPE', `the catalog file is ${what}`, form)
    }
    const checked = checkAgainst(CatalogHead, toJson(root))
    if (!checked.ok) {
      const whole = { key: start, value: root }
      for (const { kind, path: at, message, hint } of checked.faults) {
        const label = at.length > 0 && kind === 'invalid' ? `${at.join('.')}: ` : ''
        const place = kind === 'unknown-key' ? keyPlaceOf(whole, at) : placeOf(whole, at)
        this.diagnostics.push(diagnose(place, kind === 'unknown-key' ? 'CATALOG_UNKNOWN_KEY' : 'CATALOG_SHAPE', `${label}${message}`, { hint }))
      }
    }
    return root
  }

  async #rows(root: LocatedMap, file: string, above: readonly string[]): Promise<LocatedMap | undefined> {
    const report = (diagnostic: Diagnostic): void => void this.diagnostics.push(diagnostic)
    let rows: Located | undefined
    for (const { name, place } of this.#extended(root)) {
      const target = this.#target(name, place, file)
      const base = target === undefined ? undefined : await this.read(target, place, [...above, file])
      if (base?.rows !== undefined) rows = merge(rows, base.rows, report)
    }
    const own = entry(root, 'plugins')?.value
    if (own?.kind === 'map') rows = longRows(merge(rows, withoutBareValues(longRows(own), rows, report), report))
    return rows?.kind === 'map' ? rows : undefined
  }

  *#extended(root: LocatedMap): Generator<{ readonly name: string; readonly place: Place }> {
    const raw = entry(root, 'extends')?.value
    if (raw === undefined) return
    const value = expand(raw, this.#options.env, (diagnostic) => this.diagnostics.push(diagnostic))
    for (const item of value.kind === 'list' ? value.items : [value]) {
      if (item.kind === 'scalar' && typeof item.value === 'string' && item.value !== '') yield { name: item.value, place: item.place }
    }
  }

  #target(name: string, place: Place, file: string): string | undefined {
    const home = homePath(name)
    if (home !== undefined) return this.#refuse(place, 'CATALOG_UNREADABLE', home.message, home.hint)
    if (/^\.{0,2}[/\\]/.test(name) || /\.(ya?ml|json)$/.test(name) || path.isAbsolute(name)) return path.resolve(path.dirname(file), name)
    const builtIn = this.#options.builtIn ?? {}
    if (Object.hasOwn(builtIn, name)) return builtIn[name]
    const meant = didYouMean(name, Object.keys(builtIn))
    const hint = meant === undefined ? `write a path, such as ./${name}.yaml` : `did you mean "${meant}", or the file ./${name}.yaml?`
    return this.#refuse(place, 'CATALOG_UNREADABLE', `there is no built-in composition "${name}"`, hint)
  }

  #refuse(place: Place, code: Diagnostic['code'], message: string, hint?: string): undefined {
    this.diagnostics.push(diagnose(place, code, message, { hint }))
    return undefined
  }
}

async function catalogIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => [])
  const found = names.find((name) => name === 'tenon.yaml') ?? names.find((name) => /\.ya?ml$/.test(name))
  return found === undefined ? undefined : `name a file in it, such as ${path.join(folder, found)}`
}

/** `shell: 7` says nothing about a row that is named below: that one stands, or whoever needs it would be told of a second fault. */
function withoutBareValues(rows: Located, below: Located | undefined, report: (diagnostic: Diagnostic) => void): Located {
  if (rows.kind !== 'map') return rows
  const entries = [...rows.entries].filter(([id, { value }]) => {
    if (value.kind === 'map' || id.startsWith('$') || entry(below, id)?.value.kind !== 'map') return true
    const { message, hint } = noRow(value)
    report(diagnose(value.place, 'CATALOG_SHAPE', `row "${id}": ${message}`, { hint, row: id }))
    return false
  })
  return { ...rows, entries: new Map(entries) }
}

async function nearName(file: string): Promise<string | undefined> {
  const folder = path.dirname(file)
  const names = await readdir(folder).catch(() => undefined)
  if (names === undefined) return `there is no folder ${folder}`
  const meant = didYouMean(path.basename(file), names)
  return meant === undefined ? undefined : `did you mean ${meant}, in the same folder?`
}
