import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { tenon } from './harness.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const program = (name: string): string => path.join(root, 'node_modules', name)

/** Beside a package that depends on all that a new one is made with, so that nothing has to be installed. */
async function workshop(): Promise<string> {
  const cache = path.join(root, 'test', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(path.join(cache, 'new-plugin-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // Or that of this repository would be found.
  await writeFile(path.join(folder, 'vitest.config.js'), 'export default {}\n')
  return folder
}

/** As words of the language, of what compilers add to it, or of the template. */
const NAMES = [
  'map',
  'set',
  'promise',
  'symbol',
  'error',
  'suppressed-error',
  'object',
  'array',
  'string',
  'reflect',
  'date',
  'record',
  'row',
  'json',
]

it('CP-15 a plugin that has its name from the language is checked, tested and called as it was made', async () => {
  const cwd = await workshop()
  for (const name of NAMES) {
    expect((await tenon(['new', 'plugin', name], { cwd })).status).toBe(0)
    const called = await tenon(['call', name.replace('-', '_'), '{"who":"Ada"}'], { cwd: path.join(cwd, name) })
    expect([name, called.status, called.stdout]).toEqual([name, 0, 'Hello, Ada!\n'])
  }
  // What is the same in each is read once. Each is a module of its own, whatever the others declare.
  const all = { extends: `./${NAMES[0]}/tsconfig.json`, include: NAMES.flatMap((name) => [`${name}/src`, `${name}/test`]) }
  await writeFile(path.join(cwd, 'tsconfig.json'), JSON.stringify(all))
  const checked = await run(process.execPath, [program('typescript7/bin/tsc'), '-p', cwd]).catch((error: unknown) => error)
  expect(checked).toEqual({ stdout: '', stderr: '' })
  const tested = await run(process.execPath, [program('vitest/vitest.mjs'), 'run', '--root', cwd, '--reporter', 'json'], { cwd })
  const { numPassedTests, numTotalTests } = JSON.parse(tested.stdout) as Record<string, number>
  expect([numPassedTests, numTotalTests]).toEqual([NAMES.length * 3, NAMES.length * 3])
})
