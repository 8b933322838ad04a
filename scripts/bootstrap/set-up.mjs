import { existsSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { EVERYTHING, setUpEnvironment, withHome } from './environment.mjs'
import { SetUpLock } from './set-up-lock.mjs'
import { buildFingerprint, installationFingerprint, isCompiled, isStamped, writeStamp } from './stamp.mjs'
import { runStep } from './step.mjs'

const PNPM = '10.34.9'

/**
 * Installs the dependencies and compiles the sources, as far as that is due. Processes that come together take turns; one that is
 * killed half way leaves no stamp, so the next one does it again.
 *
 * @param {string} root
 * @param {(text: string) => void} say
 * @returns {Promise<void>} rejects with `StepFailed`
 */
export async function setUp(root, say) {
  if (isInstalled(root) && isBuilt(root)) return
  const lock = new SetUpLock(join(root, '.tools', 'set-up.lock'))
  await lock.take((pid) => say(`waiting for process ${pid}, which is setting up`))
  const release = () => lock.release()
  process.once('exit', release)
  try {
    const steps = new Steps(root, lock, say)
    if (!isInstalled(root)) await steps.install()
    if (!isBuilt(root)) await steps.compile()
  } finally {
    release()
    process.off('exit', release)
  }
}

/** @param {string} root */
function isInstalled(root) {
  return isStamped(installedStamp(root), installationFingerprint(root)) && !isFromNpm(root)
}

/** @param {string} root */
function isBuilt(root) {
  return isStamped(builtStamp(root), buildFingerprint(root)) && isCompiled(root)
}

/**
 * `npm install` makes a tree of another shape, and pnpm would leave its packages where a forgotten dependency finds them.
 *
 * @param {string} root
 */
function isFromNpm(root) {
  return existsSync(join(root, 'node_modules', '.package-lock.json'))
}

// In `node_modules`, so that whoever removes that removes these.
/** @param {string} root */
const installedStamp = (root) => join(root, 'node_modules', '.tenon', 'installed')
/** @param {string} root */
const builtStamp = (root) => join(root, 'node_modules', '.tenon', 'built')

class Steps {
  #root
  #lock
  #say
  #env

  /**
   * @param {string} root
   * @param {SetUpLock} lock
   * @param {(text: string) => void} say
   */
  constructor(root, lock, say) {
    this.#root = root
    this.#lock = lock
    this.#say = say
    this.#env = withHome(setUpEnvironment(process.env), join(root, '.tools', 'home'))
  }

  async install() {
    const pnpm = await this.#pnpm()
    this.#say('installing dependencies')
    rmSync(installedStamp(this.#root), { force: true })
    if (isFromNpm(this.#root)) rmSync(join(this.#root, 'node_modules'), { recursive: true, force: true })
    const fingerprint = installationFingerprint(this.#root)
    const flags = ['--frozen-lockfile', '--prefer-offline', '--reporter=append-only']
    await this.#run('pnpm install', [process.execPath, pnpm, 'install', ...flags], { env: EVERYTHING })
    writeStamp(installedStamp(this.#root), fingerprint)
  }

  async compile() {
    const fingerprint = buildFingerprint(this.#root)
    // By path: the package's JavaScript API is gone, and its `bin` has the name of the other TypeScript.
    const tsc = join(this.#root, 'node_modules', 'typescript7', 'bin', 'tsc')
    await this.#run('tsc -b', [process.execPath, tsc, '-b'])
    // A `dist` can be missing although the compiler's own record says it is up to date.
    if (!isCompiled(this.#root)) await this.#run('tsc -b --force', [process.execPath, tsc, '-b', '--force'])
    writeStamp(builtStamp(this.#root), fingerprint)
  }

  /** pnpm of the version the lock file was written by, whatever the machine has. */
  async #pnpm() {
    const home = join(this.#root, '.tools', `pnpm-${PNPM}`)
    const program = join(home, 'node_modules', 'pnpm', 'bin', 'pnpm.cjs')
    if (existsSync(program)) return program
    this.#say(`installing pnpm ${PNPM}`)
    const half = `${home}.half`
    for (const left of [half, home]) rmSync(left, { recursive: true, force: true })
    const flags = ['--no-save', '--no-package-lock', '--no-audit', '--no-fund', '--no-update-notifier', '--ignore-scripts', '--loglevel=error']
    await this.#run('npm install pnpm', [...npm(), 'install', '--prefix', half, ...flags, `pnpm@${PNPM}`], {
      shell: !ownNpm() && process.platform === 'win32',
    })
    renameSync(half, home)
    return program
  }

  /**
   * @param {string} name
   * @param {readonly string[]} argv
   * @param {{ shell?: boolean, env?: NodeJS.ProcessEnv }} [options] `env` is added
   */
  async #run(name, argv, { shell = false, env } = {}) {
    try {
      await runStep(name, argv, {
        shell,
        cwd: this.#root,
        env: { ...this.#env, ...env },
        output: 'on failure',
        started: (pid) => this.#lock.nameStep(pid),
      })
    } finally {
      this.#lock.nameStep(undefined)
    }
  }
}

/** @returns {readonly string[]} */
function npm() {
  const own = ownNpm()
  return own ? [process.execPath, own] : ['npm']
}

/** The npm that runs this script; pnpm and yarn say where they are by the same variable. */
function ownNpm() {
  const program = process.env.npm_execpath
  return program && basename(program) === 'npm-cli.js' && existsSync(program) ? program : undefined
}
