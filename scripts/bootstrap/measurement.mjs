import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { runStep, StepFailed } from './step.mjs'

/**
 * Runs `test/KIND/NAME.ts`. What is measured is the compiled packages as a user gets them: only the entry and the files beside it
 * are translated, before the clock starts, into one module whose imports lead to `dist`.
 *
 * The program runs in the root of the checkout, with `gc()` at hand.
 *
 * @param {string} root
 * @param {'bench' | 'soak'} kind
 * @param {readonly string[]} args the name, and the program's own arguments
 */
export async function runMeasurement(root, kind, [name = '', ...args]) {
  const folder = join(root, 'test', kind)
  const entry = join(folder, `${name}.ts`)
  if (!/^[\w-]+$/.test(name) || !existsSync(entry)) {
    throw new StepFailed(`${name ? `no ${kind} "${name}".` : `which ${kind}?`} There are: ${entries(folder).join(', ') || 'none yet'}`, 2)
  }
  // Below `test`, where a module finds the packages that the test package depends on.
  const program = join(root, 'test', '.cache', kind, `${name}.mjs`)
  await bundle(root, entry, program)
  await runStep(`${kind} ${name}`, [process.execPath, '--expose-gc', '--enable-source-maps', program, ...args], { cwd: root })
}

/** @param {string} folder */
function entries(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
}

/**
 * @param {string} root
 * @param {string} entry
 * @param {string} file
 */
async function bundle(root, entry, file) {
  // Not before it is installed: the other tasks load this module on a checkout without dependencies.
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    input: entry,
    platform: 'node',
    // What decorators and `using` are lowered to comes from rolldown itself and from nowhere else.
    external: (/** @type {string} */ id) => !/^([./]|@oxc-project\/runtime)/.test(id),
    tsconfig: join(root, 'tsconfig.test.json'),
    transform: { target: 'es2022' },
  })
  await build.write({ file, format: 'esm', sourcemap: true })
  await build.close()
}
