import { readdir, stat } from 'node:fs/promises'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FirstPartyPlugin } from '@tenon/catalog'
import { didYouMean, type Plugin } from '@tenon/kernel'
import { BundleFault, bundle, run } from './bundle.ts'
import { homePath } from './home-path.ts'
import { ImportFault, messageOf, type Namespace, PackageLookup } from './package-lookup.ts'
import { isPlugin, refusalOf } from './plugin-shape.ts'
import { type PluginSource, sourceKey, sourceOf } from './plugin-source.ts'
import { fingerprintOf, MISSING, type SourceFiles } from './source-files.ts'

export interface LoadedPlugin {
  readonly plugin: Plugin
  readonly source: PluginSource
  /** The files the code came from; empty for a packaged plugin that was imported. */
  readonly files: SourceFiles
  /** What was run, if it was bundled. */
  readonly code?: string
}

export interface LoadFault {
  readonly code: 'PLUGIN_UNKNOWN' | 'PLUGIN_LOAD_FAILED' | 'PLUGIN_INVALID'
  readonly message: string
  readonly hint?: string
  /** The first-party plugin that was probably meant. */
  readonly meant?: string
  /** Files to look at again before another try. */
  readonly files: SourceFiles
  readonly cause?: unknown
}

export type LoadOutcome = ({ readonly ok: true } & LoadedPlugin) | { readonly ok: false; readonly fault: LoadFault }

const NONE: SourceFiles = new Map()

/** Brings in the code of rows. Packaged plugins are imported once per process; those given by path are bundled at every load. */
export class PluginLoader {
  readonly #firstParty: ReadonlyMap<string, FirstPartyPlugin>
  readonly #lookup: PackageLookup
  /** What was reloaded once: `import` would give its first code for ever. */
  readonly #reloaded = new Set<string>()

  constructor(firstParty: readonly FirstPartyPlugin[]) {
    this.#firstParty = new Map(firstParty.map((plugin) => [plugin.name, plugin]))
    this.#lookup = new PackageLookup(firstParty.flatMap((plugin) => plugin.package ?? []))
  }

  get firstParty(): readonly string[] {
    return [...this.#firstParty.keys()]
  }

  sourceOf(use: string, folder: string): PluginSource {
    return sourceOf(use, folder, (name) => this.#firstParty.has(name))
  }

  load(source: PluginSource): Promise<LoadOutcome> {
    if (this.#reloaded.has(sourceKey(source))) return this.reload(source)
    switch (source.kind) {
      case 'first-party':
        return this.#imported(source, () => this.#firstParty.get(source.name)?.load())
      case 'path':
        return this.#bundled(source, source.path)
      case 'package':
        return this.#package(source, async (file) => {
          const outcome = await this.#imported(source, () => import(pathToFileURL(file).href))
          // A package may count on the kernel and the contracts of whoever loads it: its bundle gets them.
          const missing = !outcome.ok && (outcome.fault.cause as NodeJS.ErrnoException | undefined)?.code === 'ERR_MODULE_NOT_FOUND'
          return missing ? this.#bundled(source, file) : outcome
        })
    }
  }

  /** The code as it is on disk now, whatever was loaded before. */
  async reload(source: PluginSource): Promise<LoadOutcome> {
    this.#reloaded.add(sourceKey(source))
    switch (source.kind) {
      case 'first-party': {
        const name = this.#firstParty.get(source.name)?.package
        const found = name === undefined ? undefined : await this.#lookup.find(name, await this.#lookup.installation())
        return found?.path === undefined ? this.#imported(source, () => this.#firstParty.get(source.name)?.load()) : this.#bundled(source, found.path)
      }
      case 'path':
        return this.#bundled(source, source.path)
      case 'package':
        return this.#package(source, (file) => this.#bundled(source, file))
    }
  }

  async #package(source: PluginSource & { kind: 'package' }, proceed: (file: string) => Promise<LoadOutcome>): Promise<LoadOutcome> {
    // One letter before the colon is a drive.
    if (/^[a-z][a-z0-9+.-]+:/i.test(source.name)) {
      const hint = 'write the name of an installed package, or a path that starts with ./'
      return failed({ code: 'PLUGIN_UNKNOWN', message: `"${source.name}" is a URL: plugins come from packages and files`, hint, files: NONE })
    }
    const home = homePath(source.name)
    if (home !== undefined) return failed({ code: 'PLUGIN_UNKNOWN', ...home, files: NONE })
    const installation = await this.#lookup.installation()
    const found = await this.#lookup.find(source.name, [source.folder, ...installation])
    if (found.path !== undefined) return proceed(found.path)
    return failed(await this.#unknownPackage(source, found.why, [source.folder, ...installation.slice(0, 1)]))
  }

  async #unknownPackage(source: PluginSource & { kind: 'package' }, why: string, searched: readonly string[]): Promise<LoadFault> {
    const { name, folder } = source
    const fault = { code: 'PLUGIN_UNKNOWN', files: NONE } as const
    if (!why.startsWith('Cannot find module')) return { ...fault, message: `the package "${name}" cannot be imported: ${why}` }
    if (await isFile(path.resolve(folder, name))) {
      return { ...fault, message: `there is no plugin "${name}"`, hint: `for the file, write ./${name}` }
    }
    const meant = didYouMean(name, this.firstParty)
    if (meant !== undefined) return { ...fault, message: `there is no plugin "${name}"`, hint: `did you mean "${meant}"?`, meant }
    const places = searched.map((place) => path.join(place, 'node_modules')).join(' and ')
    if (!PACKAGE.test(name)) {
      return {
        ...fault,
        message: `there is no plugin "${name}"`,
        hint: `first-party plugins are ${this.firstParty.join(', ')}; a path starts with ./`,
      }
    }
    return {
      ...fault,
      message: `there is no first-party plugin and no package "${name}" (searched from ${places} upwards)`,
      hint: `install it with \`npm install ${packageOf(name)}\` in ${folder}, or write a path that starts with ./`,
    }
  }

  async #imported(source: PluginSource, load: () => Promise<object> | undefined): Promise<LoadOutcome> {
    try {
      return pluginIn((await load()) as Namespace, source, NONE)
    } catch (error) {
      const name = source.kind === 'path' ? source.path : source.name
      return failed({ code: 'PLUGIN_LOAD_FAILED', message: `"${name}" throws when it is imported: ${messageOf(error)}`, files: NONE, cause: error })
    }
  }

  async #bundled(source: PluginSource, file: string): Promise<LoadOutcome> {
    if (source.kind === 'path') {
      const stats = await stat(file).catch(() => undefined)
      if (stats === undefined) return failed(await missingFile(file))
      if (!stats.isFile() && !stats.isDirectory()) return failed({ ...notCode(file), message: `${file} is neither a file nor a folder` })
      if (stats.isFile() && !CODE.test(file)) return failed(notCode(file))
    }
    // Under the name it is given by too, which may be a link.
    const files = new Map([[file, await fingerprintOf(file)]])
    const fault = (problem: { message: string; hint?: string }, cause: unknown): LoadOutcome =>
      failed({ code: 'PLUGIN_LOAD_FAILED', ...problem, files, cause })
    try {
      const bundled = await bundle(file, this.#lookup, (read, print) => files.set(read, print))
      try {
        return pluginIn(run(bundled), source, files, bundled.code)
      } catch (error) {
        return fault({ message: `${file} throws when it is imported: ${messageOf(error)}` }, error)
      }
    } catch (error) {
      return fault(describe(error, file), error)
    }
  }
}

/** A specifier may go on with what is wanted of the package. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

function describe(error: unknown, file: string): { message: string; hint?: string } {
  if (error instanceof ImportFault && error.searched !== undefined) {
    const searched = error.searched.map((place) => path.join(place, 'node_modules')).join(' and ')
    const message = `${file} imports "${error.specifier}", which is not there (searched from ${searched} upwards)`
    return { message, hint: `install it with \`npm install ${packageOf(error.specifier)}\` in ${path.dirname(file)}` }
  }
  if (/^Cannot resolve entry module/.test(messageOf(error))) {
    return { message: `${file} is a folder without code to load`, hint: 'name the file in it: write the path of a .js, .mjs or .ts file' }
  }
  if (error instanceof BundleFault && error.hint !== undefined) return { message: error.message, hint: error.hint }
  return { message: error instanceof ImportFault ? `${file}: ${error.message}` : messageOf(error) }
}

function pluginIn(namespace: Namespace | undefined, source: PluginSource, files: SourceFiles, code?: string): LoadOutcome {
  // CommonJS: `module.exports` itself; compiled from ES modules and imported, it has its default export one level deeper.
  const candidates = [namespace?.default, namespace, (namespace?.default as Namespace | undefined)?.default]
  const plugin = candidates.find(isPlugin)
  const name = source.kind === 'path' ? source.path : source.name
  if (plugin !== undefined) {
    const refusal = refusalOf(plugin)
    if (refusal === undefined) return { ok: true, plugin, source, files, ...(code === undefined ? {} : { code }) }
    return failed({ code: 'PLUGIN_INVALID', message: `${name} has a plugin the kernel does not take: ${refusal}`, files })
  }
  const named = Object.entries(namespace ?? {}).find(([, value]) => isPlugin(value))?.[0]
  const hint = named === undefined ? 'write `export default definePlugin({ … })`' : `"${named}" is one: export it as the default`
  return failed({ code: 'PLUGIN_INVALID', message: `${name} has no plugin as its default export`, hint, files })
}

/** What a registry takes for the name of a package, and maybe a subpath behind it. */
const PACKAGE = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*(?:\/|$)/

/** Other files can be bundled too, as data; what comes of it is no plugin. */
const CODE = /\.[cm]?[jt]sx?$/i

function notCode(file: string): LoadFault {
  const catalog = /\.(ya?ml|json)$/i.test(file)
  const hint = catalog ? 'to build on another catalog file, name it in `extends`' : 'write the path of a .js, .mjs or .ts file'
  return { code: 'PLUGIN_INVALID', message: `${file} is no code of a plugin`, hint, files: NONE }
}

async function missingFile(file: string): Promise<LoadFault> {
  const folder = path.dirname(file)
  const names = await readdir(folder).catch(() => undefined)
  const meant = didYouMean(path.basename(file), names ?? [])
  const hint =
    names === undefined
      ? `there is no folder ${folder}`
      : meant === undefined
        ? 'paths start at the file that names them'
        : `did you mean ./${meant}?`
  return { code: 'PLUGIN_UNKNOWN', message: `there is no file ${file}`, hint, files: new Map([[file, MISSING]]) }
}

async function isFile(file: string): Promise<boolean> {
  const stats = await stat(file).catch(() => undefined)
  return stats?.isFile() === true || stats?.isDirectory() === true
}

function failed(fault: LoadFault): LoadOutcome {
  return { ok: false, fault }
}
