import { createRequire } from 'node:module'
import path from 'node:path'
import { compileFunction } from 'node:vm'
import { ImportFault, messageOf, type Namespace, type PackageLookup } from './package-lookup.ts'
import { fingerprintOf, MISSING } from './source-files.ts'

/** Plugin code as one text that keeps nothing alive once it is dropped, unlike an ES module. */
export interface Bundle {
  readonly entry: string
  readonly code: string
  readonly imports: ReadonlyMap<string, unknown>
}

/** What is wrong with the source; the message names file and place. */
export class BundleFault extends Error {
  readonly hint: string | undefined

  constructor(message: string, hint?: string, cause?: unknown) {
    super(message, { cause })
    this.hint = hint
  }
}

/** In front of a bare import's name once it is resolved to a stand-in module. */
const IMPORTED = '\0tenon:'
const REQUIRED = '\0tenon-require:'

/**
 * Bundles what `entry` imports by path. Every bare import becomes a stand-in that hands out the members of the module imported here
 * and now: default and named imports mean what they mean in Node, whatever form the package has, and nobody gets a second copy.
 * `read` is told of each source, of those too that leave no trace in the code (types, inlined constants) or come before a fault.
 * @throws BundleFault, ImportFault
 */
export async function bundle(entry: string, lookup: PackageLookup, read: (file: string, print: string) => void): Promise<Bundle> {
  const { rolldown } = await import('rolldown')
  const imports = new Map<string, unknown>()
  let fault: ImportFault | undefined
  const load = async (id: string): Promise<{ code: string; moduleSideEffects: boolean } | null> => {
    const [kind, specifier = '', importer = ''] = id.split('|')
    if (kind !== IMPORTED && kind !== REQUIRED) {
      if (path.isAbsolute(id)) read(id, await fingerprintOf(id))
      return null
    }
    try {
      const found = (kind === REQUIRED ? required(specifier, importer) : undefined) ?? (await lookup.import(specifier, path.dirname(importer)))
      imports.set(id, found)
      const code = kind === REQUIRED ? `module.exports = $imports.get(${JSON.stringify(id)})` : standIn(id, found as Namespace)
      return { code, moduleSideEffects: false }
    } catch (error) {
      fault ??= error instanceof ImportFault ? error : new ImportFault(specifier, messageOf(error), undefined, error)
      throw error
    }
  }
  try {
    const build = await rolldown({
      input: entry,
      platform: 'node',
      logLevel: 'silent',
      transform: { target: 'node20', decorator: { legacy: true } },
      treeshake: { propertyReadSideEffects: false },
      plugins: [
        {
          name: 'tenon',
          async resolveId(specifier, importer, { kind }) {
            if (importer !== undefined && /^\.{1,2}\//.test(specifier)) {
              const found = await this.resolve(specifier, importer, { kind, skipSelf: true })
              if (found === null) for (const file of meantBy(path.resolve(path.dirname(importer), specifier))) read(file, MISSING)
              return found
            }
            if (importer === undefined || /^[./#]|^@oxc-project\/runtime/.test(specifier) || path.isAbsolute(specifier)) return null
            // The ending says what the stand-in is written as, whatever the importer is.
            return kind === 'require-call' ? `${REQUIRED}|${specifier}|${importer}|.cjs` : `${IMPORTED}|${specifier}|${importer}|.mjs`
          },
          load,
        },
      ],
    })
    try {
      const { output } = await build.generate({ format: 'cjs', exports: 'named', codeSplitting: false })
      const [chunk] = output
      return { entry, code: chunk.code, imports }
    } finally {
      await build.close()
    }
  } catch (error) {
    throw fault ?? sourceFault(error)
  }
}

/** The files whose coming would mend an import that leads nowhere. */
function meantBy(file: string): readonly string[] {
  const bare = file.replace(/\.[cm]?js$/, '')
  return [
    file,
    ...['.ts', '.mts', '.js', '.mjs', '.json'].map((ending) => bare + ending),
    ...['index.ts', 'index.js'].map((name) => path.join(file, name)),
  ]
}

/** The exports of a bundle. @throws whatever the plugin's top level throws */
export function run(bundle: Bundle): Namespace {
  const parameters = ['exports', 'module', 'require', '__filename', '__dirname', '$imports']
  // Line numbers are those of the bundle, and the name says so.
  const compiled = compileFunction(bundle.code, parameters, { filename: `${bundle.entry} (bundled)` })
  const module = { exports: {} }
  compiled(module.exports, module, createRequire(bundle.entry), bundle.entry, path.dirname(bundle.entry), bundle.imports)
  return module.exports
}

function standIn(id: string, namespace: Namespace): string {
  const members = Object.keys(namespace).map((name, index) => {
    const quoted = JSON.stringify(name)
    // What a message of the engine calls it: `z$.shape is not a function`. The ending keeps it off reserved words.
    const local = /^[A-Za-z_$][\w$]*$/.test(name) ? `${name}$` : `member${index}`
    return `const ${local} = namespace[${quoted}]; export { ${local} as ${quoted} };`
  })
  return [`const namespace = $imports.get(${JSON.stringify(id)});`, ...members].join('\n')
}

/** As Node's own `require` would; undefined where that cannot be had and the module has to be imported. */
function required(specifier: string, importer: string): unknown {
  if (specifier.startsWith('@tenon/')) return undefined
  try {
    return createRequire(importer)(specifier) as unknown
  } catch {
    return undefined
  }
}

interface BuildError {
  readonly code?: string
  readonly message: string
  readonly id?: string
  readonly loc?: { readonly file?: string; readonly line: number; readonly column: number }
}

function sourceFault(error: unknown): BundleFault {
  const [first] = (error as { errors?: readonly BuildError[] }).errors ?? []
  if (first === undefined) return new BundleFault(messageOf(error), undefined, error)
  const [line = ''] = plain(first.message).split('\n')
  const message = line.replace(/^\[[A-Z_]+\] /, '').replace(/^(Could not resolve '.*?') in .*$/, '$1')
  const place = first.loc === undefined ? first.id : `${first.loc.file ?? first.id}:${first.loc.line}:${first.loc.column + 1}`
  const hint =
    first.code === 'INVALID_TLA_FORMAT' ? 'move the `await` into `activate`: code that can be reloaded has none at its top level' : undefined
  const text = hint === undefined ? message : 'top-level await'
  return new BundleFault(place === undefined ? text : `${place}: ${text}`, hint, error)
}

function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the compiler colours its messages.
  return text.replace(/\u001b\[[0-9;]*m/g, '').replace(/\\0tenon:\|([^|"]*)\|[^"]*/g, '$1')
}
