import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * What an installation was made from: every manifest, the lock file, the workspace file, and the machine, since some packages bring
 * a binary for one platform only.
 *
 * @param {string} root
 */
export function installationFingerprint(root) {
  const manifests = ['.', ...workspaceFolders(root)].map((folder) => join(folder, 'package.json'))
  const machine = `${process.platform}-${process.arch}-${process.versions.modules}`
  return fingerprint(root, ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests], machine)
}

/**
 * What `dist` was compiled from: every source and every compiler setting, by content, because a checkout of another branch
 * may bring files that are older than the last build.
 *
 * @param {string} root
 */
export function buildFingerprint(root) {
  const folders = workspaceFolders(root)
  const settings = ['.', ...folders].map((folder) => join(folder, 'tsconfig.json'))
  return fingerprint(root, ['tsconfig.base.json', ...settings, ...folders.flatMap((folder) => sources(root, folder))], installationFingerprint(root))
}

/**
 * Whether each source has its compiled file: somebody may have removed a `dist`.
 *
 * @param {string} root
 */
export function isCompiled(root) {
  return workspaceFolders(root).every((folder) =>
    sources(root, folder).every((source) =>
      existsSync(join(root, folder, 'dist', source.slice(join(folder, 'src').length + 1).replace(/ts$/, 'js'))),
    ),
  )
}

/**
 * @param {string} path
 * @param {string} fingerprint
 */
export function isStamped(path, fingerprint) {
  try {
    return readFileSync(path, 'utf8') === fingerprint
  } catch {
    return false
  }
}

/**
 * Whole or not at all, also when the machine is switched off meanwhile.
 *
 * @param {string} path
 * @param {string} fingerprint
 */
export function writeStamp(path, fingerprint) {
  mkdirSync(dirname(path), { recursive: true })
  const written = `${path}.${process.pid}`
  writeFileSync(written, fingerprint, { flush: true })
  renameSync(written, path)
}

/**
 * The folders of `pnpm-workspace.yaml`'s `packages`.
 *
 * @param {string} root
 */
function workspaceFolders(root) {
  const grouped = ['packages', 'plugins'].flatMap((group) => directories(join(root, group)).map((name) => join(group, name)))
  return [...grouped, 'catalog', 'test'].filter((folder) => existsSync(join(root, folder, 'package.json')))
}

/** @param {string} path */
function directories(path) {
  if (!existsSync(path)) return []
  const entries = readdirSync(path, { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
}

/**
 * @param {string} root
 * @param {string} folder
 */
function sources(root, folder) {
  const directory = join(root, folder, 'src')
  if (!existsSync(directory)) return []
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' })
  return files.filter((file) => /(?<!\.d)\.ts$/.test(file)).map((file) => join(folder, 'src', file))
}

/**
 * @param {string} root
 * @param {readonly string[]} files
 * @param {string} salt
 */
function fingerprint(root, files, salt) {
  const hash = createHash('sha256').update(salt)
  for (const file of files.toSorted()) {
    const path = join(root, file)
    const content = existsSync(path) ? readFileSync(path) : undefined
    hash.update(`\0${file}\0${content?.length ?? 'missing'}\0`)
    if (content) hash.update(content)
  }
  return hash.digest('hex')
}
