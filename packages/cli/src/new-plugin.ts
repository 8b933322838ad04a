import { access, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { CodedError } from '@tenon/kernel'

export type NewPluginErrorCode = 'PLUGIN_NAME_INVALID' | 'PLUGIN_FOLDER_EXISTS' | 'PLUGIN_FOLDER_UNWRITABLE'

/** Messages name what is in the way. */
export class NewPluginError extends CodedError<NewPluginErrorCode> {}

export interface NewPluginSpec {
  /** A package name, with a scope or without: `weather`, `@acme/weather`. Its last part becomes plugin, capability and folder. */
  readonly name: string
  /** Where the folder is made. */
  readonly parent: string
  /** Of Tenon's packages, all of which have the same. */
  readonly version: string
  /** The commands that install what the package depends on; its README says them. */
  readonly install: readonly string[]
}

export interface NewPlugin {
  readonly folder: string
  /** Of the capability and its provider. */
  readonly name: string
  /** Of the tool that uses it. */
  readonly tool: string
  /** Relative to the folder, sorted. */
  readonly files: readonly string[]
}

const TEMPLATES = fileURLToPath(new URL('../templates/plugin', import.meta.url))

/** Of what a new plugin is made with beside Tenon: the versions Tenon itself is tested with. */
export const VERSIONS = { zod: '^4.6.7', vitest: '^4.1.12', typescript: '^6.0.3', typesNode: '^20.19.43' } as const

/**
 * Makes the package of a plugin: a provider, a consumer, and tests for both. Makes all of it, or nothing.
 * @throws NewPluginError
 */
export async function newPlugin({ name: packageName, parent, version, install }: NewPluginSpec): Promise<NewPlugin> {
  const name = nameIn(packageName)
  const folder = path.join(parent, name)
  if (await exists(folder)) throw new NewPluginError('PLUGIN_FOLDER_EXISTS', `${folder} is there already; choose another name, or remove it`)
  const tool = name.replaceAll('-', '_')
  const words = { ...VERSIONS, name, Name: typeName(name), package: packageName, tool, tenon: `^${version}`, install: install.join('\n') }
  if ((await dependencies(words)).includes(packageName)) {
    throw new NewPluginError('PLUGIN_NAME_INVALID', `"${packageName}" is a package that the new one would depend on; choose another name`)
  }
  try {
    return { folder, name, tool, files: await writeAll(folder, words) }
  } catch (error) {
    // What keeps it from being written may keep it from being removed; that is no second news.
    await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    if (!(error instanceof Error && 'syscall' in error)) throw error
    const message = `${folder} cannot be made: ${error.message}; run this in a folder that you may write to`
    throw new NewPluginError('PLUGIN_FOLDER_UNWRITABLE', message, { cause: error })
  }
}

const PACKAGE = /^(?:@[a-z0-9][a-z0-9._-]*\/)?([a-z][a-z0-9]*(?:-[a-z0-9]+)*)$/

function nameIn(packageName: string): string {
  const [, name] = PACKAGE.exec(packageName) ?? []
  if (name !== undefined && packageName.length <= 100) return name
  throw new NewPluginError(
    'PLUGIN_NAME_INVALID',
    `${JSON.stringify(packageName)} is not a name for a plugin; write it like weather or @acme/weather-map`,
  )
}

/** Of interface and token. What hides a global of the language, such as `Map`, breaks the code around it, and what compilers put into that. */
function typeName(name: string): string {
  const pascal = name.replace(/(?:^|-)([a-z0-9])/g, (_, first: string) => first.toUpperCase())
  return pascal in globalThis ? `${pascal}Service` : pascal
}

/** A package cannot be installed into itself. */
async function dependencies(words: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const manifest = JSON.parse(filled(await readFile(path.join(TEMPLATES, 'package.json.template'), 'utf8'), words)) as Record<string, object>
  return ['dependencies', 'peerDependencies', 'devDependencies'].flatMap((kind) => Object.keys(manifest[kind] ?? {}))
}

/** File names end in `.template`, so that no tool takes them for what they are not; a leading dot would keep them out of a package. */
async function writeAll(folder: string, words: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const found = await readdir(TEMPLATES, { recursive: true, withFileTypes: true })
  const sources = found.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
  const files = await Promise.all(
    sources.map(async (source) => {
      const file = path
        .relative(TEMPLATES, source)
        .replace(/\.template$/, '')
        .replace(/^gitignore$/, '.gitignore')
      const text = await readFile(source, 'utf8')
      await mkdir(path.dirname(path.join(folder, file)), { recursive: true })
      await writeFile(path.join(folder, file), filled(text, words))
      return file
    }),
  )
  return files.toSorted()
}

function filled(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\{\{(\w+)\}\}/g, (placeholder, word: string) => {
    const value = words[word]
    if (value === undefined) throw new Error(`the template asks for ${placeholder}`)
    return value
  })
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
