import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fate, type FileReport, fateOf } from './fate.ts'
import { type Mutant, plant } from './mutant.ts'

/** The kernel as it is: whatever fails there says nothing about a mutant. */
export const CONTROL = 'control'

/**
 * Runs each mutant's specs against a copy of the kernel that has its fault, and the specs of all of them against a copy that has
 * none. All in one vitest, a project for each copy; the checkout itself is not touched.
 *
 * @param signal ends it early; whatever has not been judged by then is broken
 * @param root the checkout; copies lie in its `test/.cache`, where modules find the installed packages
 */
export async function fatesOf(mutants: readonly Mutant[], root: string, signal: AbortSignal): Promise<ReadonlyMap<string, Fate>> {
  const cache = join(root, 'test/.cache/mutations')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'run-'))
  try {
    const specs = [...new Set(mutants.flatMap((mutant) => mutant.specs))]
    const kernel = join(root, 'packages/kernel')
    await copy(kernel, join(folder, CONTROL))
    for (const mutant of mutants) {
      const own = join(folder, mutant.name)
      await copy(kernel, own)
      const file = join(own, 'src', mutant.file)
      await writeFile(file, plant(mutant, await readFile(file, 'utf8')))
    }
    const projects = [{ name: CONTROL, specs }, ...mutants].map(({ name, specs }) => project(root, folder, name, specs))
    const output = join(folder, 'reports.jsonl')
    await writeFile(output, '')
    const reporters = [[join(root, 'test/mutations/file-reporter.ts'), { file: output }]]
    const config = { test: { maxWorkers: 2, reporters, projects } }
    await writeFile(join(folder, 'vitest.config.mjs'), `export default ${JSON.stringify(config, undefined, 2)}\n`)
    await runVitest(root, folder, signal)
    const lines = (await readFile(output, 'utf8')).split('\n').filter((line) => line !== '')
    const reports = lines.map((line) => JSON.parse(line) as FileReport)
    return new Map([{ name: CONTROL, specs }, ...mutants].map(({ name, specs }) => [name, fateOf(reports, name, specs.length)]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function copy(kernel: string, to: string): Promise<void> {
  await mkdir(to)
  // Not linked: a linked file would import the kernel that lies where the link leads.
  for (const part of ['package.json', 'src', 'test']) await cp(join(kernel, part), join(to, part), { recursive: true })
  await symlink(join(kernel, 'node_modules'), join(to, 'node_modules'))
}

/** Long for these tests, whose files take well under a second, and short enough to wait for when a fault makes one hang. The control never hangs. */
const TEST_TIMEOUT_MS = 5000

/** The same scenarios every time, as many as it takes for every fault that the model is to notice; the first disagreement will do. */
const MODEL = { TENON_MODEL_RUNS: '500', TENON_MODEL_SEED: '1', TENON_MODEL_SHRINK: '0' }

function project(root: string, folder: string, name: string, specs: readonly string[]): object {
  const conditions = ['@tenon/source', 'node', 'import', 'module', 'default']
  return {
    root: join(folder, name),
    oxc: { decorator: { legacy: true } },
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      include: specs.map((spec) => `test/${spec}`),
      isolate: false,
      testTimeout: name === CONTROL ? 4 * TEST_TIMEOUT_MS : TEST_TIMEOUT_MS,
      hookTimeout: TEST_TIMEOUT_MS,
      env: MODEL,
      setupFiles: name === CONTROL ? [] : [join(root, 'test/mutations/one-failure-is-enough.ts')],
    },
  }
}

/** Resolves when vitest has ended, or was ended together with its workers: a mutant may block one for ever. */
function runVitest(root: string, folder: string, signal: AbortSignal): Promise<void> {
  const args = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--config', join(folder, 'vitest.config.mjs')]
  const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore', detached: true })
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  signal.addEventListener('abort', end, { once: true })
  return new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    // It fails whenever a mutant is killed: the exit code tells nothing.
    child.once('close', () => resolve())
  }).finally(() => signal.removeEventListener('abort', end))
}
