import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly type?: string
  readonly main?: string
  readonly types?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}

export interface PackedPackage {
  readonly manifest: Manifest
  readonly tarball: string
}

/** An entry of a package: what somebody writes to import it, and the files it leads to. */
export interface Entry {
  readonly specifier: string
  readonly targets: readonly string[]
}

export function entriesOf({ name, exports = {} }: Manifest): readonly Entry[] {
  return Object.entries(exports).map(([subpath, target]) => ({
    specifier: name + subpath.slice(1),
    targets: typeof target === 'string' ? [target] : Object.values(target),
  }))
}

/** The names of all packages that are published. */
export function publishedNames(): readonly string[] {
  return members().map(({ name }) => name)
}

/** Every package that is published, as the tarball somebody would get. */
export class PackedPackages implements AsyncDisposable {
  readonly all: readonly PackedPackage[]
  readonly #folder: string

  constructor(folder: string, all: readonly PackedPackage[]) {
    this.#folder = folder
    this.all = all
  }

  static async pack(): Promise<PackedPackages> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'tenon-packed-')))
    // As somebody with a clone does it.
    await run(process.execPath, [join(root, 'examples', 'pack.mjs'), join(folder, 'tarballs')])
    const all = members().map((manifest) => {
      const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
      return { manifest, tarball: join(folder, 'tarballs', file) }
    })
    return new PackedPackages(folder, all)
  }

  get names(): readonly string[] {
    return this.all.map(({ manifest }) => manifest.name)
  }

  /** @throws if it is not published */
  one(name: string): PackedPackage {
    const found = this.all.find(({ manifest }) => manifest.name === name)
    if (found === undefined) throw new Error(`${name} is not among the packed packages`)
    return found
  }

  /** The same tarball with another manifest, to see whether a check notices. */
  async withManifest({ manifest, tarball }: PackedPackage, change: Partial<Manifest>): Promise<PackedPackage> {
    const folder = await mkdtemp(join(this.#folder, 'changed-'))
    await run('tar', ['-xzf', tarball, '-C', folder])
    const file = join(folder, 'package', 'package.json')
    const changed = { ...manifestIn(dirname(file)), ...change }
    await writeFile(file, JSON.stringify(changed))
    await run('tar', ['-czf', join(folder, 'changed.tgz'), '-C', folder, 'package'])
    return { manifest: { ...manifest, ...change }, tarball: join(folder, 'changed.tgz') }
  }

  /** A new folder outside the repository. */
  async folder(name: string): Promise<string> {
    const folder = join(this.#folder, name)
    await mkdir(folder, { recursive: true })
    return folder
  }

  /**
   * Installs a project. What it asks of Tenon comes out of tarballs; what anybody asks of others is linked from this checkout, so that nothing is
   * fetched.
   */
  async install(project: string): Promise<void> {
    const ours = this.all.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`] as const)
    const theirs = thirdParties().map(([name, folder]) => [name, `link:${folder}`] as const)
    const overrides = Object.fromEntries([...ours, ...theirs])
    await writeFile(join(project, 'pnpm-workspace.yaml'), JSON.stringify({ packages: ['.'], overrides }))
    await pnpm(['install', '--offline', '--no-frozen-lockfile', '--store-dir', join(this.#folder, 'store')], project)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true })
  }
}

/** The manifest and the names of the files that are in a tarball. */
export async function contentsOf({ tarball }: PackedPackage): Promise<{ readonly manifest: Manifest; readonly files: readonly string[] }> {
  const { stdout: list } = await run('tar', ['-tzf', tarball])
  const { stdout: manifest } = await run('tar', ['-xzOf', tarball, 'package/package.json'])
  const files = list.split('\n').filter(Boolean)
  return { manifest: JSON.parse(manifest) as Manifest, files: files.map((file) => file.replace(/^package\//, '')) }
}

/** What a program printed, whether or not it succeeded. */
export async function outputOf(file: string, args: readonly string[], cwd: string): Promise<{ readonly code: number; readonly output: string }> {
  const env = { PATH: process.env.PATH, HOME: cwd, NO_COLOR: '1', CI: '1' }
  try {
    const { stdout, stderr } = await run(file, args, { cwd, env })
    return { code: 0, output: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, output: stdout + stderr }
  }
}

async function pnpm(args: readonly string[], cwd: string): Promise<void> {
  const env = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_ENV|VITEST)/i.test(name))), CI: '1' }
  try {
    await run(process.execPath, [pnpmProgram(), ...args], { cwd, env, maxBuffer: 64 * 1024 * 1024 })
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`pnpm ${args.join(' ')} failed:\n${stdout}${stderr}`)
  }
}

/** The one that the set-up of this checkout has installed. */
function pnpmProgram(): string {
  const tools = join(root, '.tools')
  const names = existsSync(tools) ? readdirSync(tools) : []
  const programs = names.map((name) => join(tools, name, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs'))
  const program = programs.find((candidate) => /pnpm-[\d.]+\//.test(candidate) && existsSync(candidate))
  if (program === undefined) throw new Error(`there is no pnpm in ${tools}: remove node_modules and let an npm script set the checkout up`)
  return program
}

function members(): readonly Manifest[] {
  return memberFolders()
    .map(manifestIn)
    .filter((manifest) => manifest.private !== true)
}

function memberFolders(): readonly string[] {
  const inside = ['packages', 'plugins'].flatMap((group) => readdirSync(join(root, group)).map((name) => join(root, group, name)))
  return [...inside, join(root, 'catalog')].filter((folder) => existsSync(join(folder, 'package.json')))
}

function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Name → folder in this checkout, of all that the members and the root depend on. */
function thirdParties(): readonly (readonly [name: string, folder: string])[] {
  const found = [root, ...memberFolders()].flatMap((folder) => {
    const { dependencies, devDependencies, peerDependencies } = manifestIn(folder)
    const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies }).filter((name) => !name.startsWith('@tenon/'))
    return names.map((name) => [name, join(folder, 'node_modules', name)] as const).filter(([, place]) => existsSync(place))
  })
  return found.map(([name, place]) => [name, realpathSync(place)])
}
