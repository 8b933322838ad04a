import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { setUpEnvironment } from './environment.mjs'
import { runMeasurement } from './measurement.mjs'
import { runStep, StepFailed } from './step.mjs'

/**
 * What `bootstrap.mjs` can do once everything is set up.
 *
 * @type {Record<string, (root: string, args: string[]) => Promise<void>>}
 */
export const tasks = {
  /** The console on a composition: the default one, or the catalog file that is given. */
  async start(root, args) {
    const catalog = args.some((arg) => /\.(ya?ml|json)$/.test(arg)) ? [] : [join(root, 'catalog', 'default.yaml')]
    await become(join(root, 'packages', 'cli', 'bin', 'tenon.js'), ['run', ...catalog, ...args])
  },

  /** The command line; needs no set-up of its own to be tried on a fresh checkout. */
  async tenon(root, args) {
    await become(join(root, 'packages', 'cli', 'bin', 'tenon.js'), args)
  },

  async test(root, args) {
    behaveAlikeEverywhere(root)
    await become(join(root, 'node_modules', 'vitest', 'vitest.mjs'), ['run', ...args])
  },

  /** Set-up has built already. */
  async build() {},

  async lint(root, args) {
    behaveAlikeEverywhere(root)
    await runAll(root, linters(root, args.includes('--fix')))
  },

  /** All that is checked without running the product. */
  async check(root) {
    behaveAlikeEverywhere(root)
    // Another reporter than the configured ones: the line with the counts belongs to the whole test run.
    const architecture = [...program(root, 'vitest/vitest.mjs'), 'run', '--reporter=dot', 'test/architecture.spec.ts']
    await runAll(root, { ...linters(root, false), 'the architecture test': architecture })
  },

  /** Notes what a change means for those who use the packages. */
  async changeset(root, args) {
    await become(join(root, 'node_modules', '@changesets', 'cli', 'bin.js'), args)
  },

  async bench(root, args) {
    await runMeasurement(root, 'bench', args)
  },

  async soak(root, args) {
    await runMeasurement(root, 'soak', args)
  },
}

/**
 * Goes on as another program, in this very process: terminal, signals and exit code need no forwarding. A parent that forwards
 * would hand a Ctrl-C on a second time, since the terminal sends it to both, and the second one means "at once".
 *
 * @param {string} path
 * @param {readonly string[]} args
 */
async function become(path, args) {
  process.argv.splice(1, process.argv.length, path, ...args)
  await import(pathToFileURL(path).href)
}

/**
 * Tools that judge the code must come to the same judgement whoever started them, and wherever.
 *
 * @param {string} root
 */
function behaveAlikeEverywhere(root) {
  const kept = setUpEnvironment(process.env)
  for (const name of Object.keys(process.env)) if (!(name in kept)) delete process.env[name]
  process.chdir(root)
}

/**
 * @param {string} root
 * @param {boolean} fix
 * @returns {Record<string, readonly string[]>} name to command line
 */
function linters(root, fix) {
  return {
    biome: [...program(root, '@biomejs/biome/bin/biome'), 'check', ...(fix ? ['--write'] : []), '--error-on-warnings', '.'],
    'tsc -p tsconfig.test.json': [...program(root, 'typescript7/bin/tsc'), '-p', 'tsconfig.test.json'],
    eslint: [...program(root, 'eslint/bin/eslint.js'), ...(fix ? ['--fix'] : []), '--max-warnings=0', '.'],
  }
}

/**
 * Runs every tool, also when one before it has complained.
 *
 * @param {string} root
 * @param {Record<string, readonly string[]>} tools
 */
async function runAll(root, tools) {
  /** @type {string[]} */
  const complaints = []
  for (const [name, argv] of Object.entries(tools)) {
    try {
      await runStep(name, argv, { cwd: root })
    } catch (error) {
      if (!(error instanceof StepFailed) || error.exitCode > 128) throw error
      complaints.push(error.message)
    }
  }
  if (complaints.length > 0) throw new StepFailed(complaints.join('; '), 1)
}

/**
 * @param {string} root
 * @param {string} path inside `node_modules`
 * @returns {readonly string[]}
 */
function program(root, path) {
  return [process.execPath, join(root, 'node_modules', path)]
}
