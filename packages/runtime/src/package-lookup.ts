import { isBuiltin } from 'node:module'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export type Namespace = Readonly<Record<string, unknown>>

/** A bare import that leads nowhere, or to a module that fails. */
export class ImportFault extends Error {
  readonly specifier: string
  /** Where it was looked for; undefined if it was found and failed. */
  readonly searched: readonly string[] | undefined

  constructor(specifier: string, message: string, searched?: readonly string[], cause?: unknown) {
    super(message, { cause })
    this.specifier = specifier
    this.searched = searched
  }
}

const RUNTIME_FOLDER = fileURLToPath(new URL('..', import.meta.url))

/**
 * Finds packages as `import` does, which Node 20 offers no way to ask for from a folder of one's choice: `require.resolve` fails for
 * packages that export only `import`, and would find a second copy of those that export both.
 */
export class PackageLookup {
  readonly #firstPartyPackages: readonly string[]
  #installation: Promise<readonly string[]> | undefined

  constructor(firstPartyPackages: readonly string[]) {
    this.#firstPartyPackages = firstPartyPackages
  }

  /** The file that `specifier` leads to from the first of `folders` that knows it. */
  async find(specifier: string, folders: readonly string[]): Promise<{ readonly path: string } | { readonly path: undefined; readonly why: string }> {
    const { ResolverFactory } = await import('rolldown/experimental')
    // Made anew: a resolver keeps what it saw of the disk.
    const resolver = new ResolverFactory({ conditionNames: ['node', 'import'], extensions: ['.js', '.json', '.node'] })
    let why = `Cannot find module '${specifier}'`
    for (const folder of folders) {
      const found = await resolver.async(folder, specifier)
      if (found.path !== undefined && found.path !== null) return { path: found.path }
      if (found.error !== undefined && !found.error.startsWith('Cannot find module')) why = found.error
    }
    return { path: undefined, why }
  }

  /**
   * The module a plugin in `folder` gets for a bare import. The kernel and the contracts are those of the runtime, so that plugin and
   * host mean the same thing; anything else is looked for beside the plugin first.
   * @throws ImportFault
   */
  async import(specifier: string, folder: string): Promise<Namespace> {
    if (isBuiltin(specifier)) return importFile(specifier, specifier)
    if (specifier === '@tenon/kernel') return importFile(specifier, specifier)
    const installation = await this.installation()
    const house = specifier.startsWith('@tenon/') && !specifier.startsWith('@tenon/plugin-')
    const folders = house ? [...installation, folder] : [folder, ...installation]
    const found = await this.find(specifier, folders)
    if (found.path === undefined) throw new ImportFault(specifier, found.why, [folder, RUNTIME_FOLDER])
    return importFile(specifier, pathToFileURL(found.path).href)
  }

  /** The folders from which the runtime's own packages are found, its own first: a strict package manager shows each package only what it asks for. */
  installation(): Promise<readonly string[]> {
    this.#installation ??= this.#findInstallation()
    return this.#installation
  }

  async #findInstallation(): Promise<readonly string[]> {
    const folders = [RUNTIME_FOLDER]
    for (const name of ['@tenon/catalog', ...this.#firstPartyPackages]) {
      const found = await this.find(`${name}/package.json`, folders)
      if (found.path !== undefined) folders.push(path.dirname(found.path))
    }
    return folders
  }
}

async function importFile(specifier: string, url: string): Promise<Namespace> {
  try {
    // The kernel by its name, not by its file: under a test runner that is another module.
    return (await (specifier === '@tenon/kernel' ? import('@tenon/kernel') : import(url))) as Namespace
  } catch (error) {
    throw new ImportFault(specifier, `${specifier} throws when it is imported: ${messageOf(error)}`, undefined, error)
  }
}

export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return '<unprintable thrown value>'
  }
}
