import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
// Inside the checkout, so that the files find vitest.
const cache = join(root, 'test', '.cache')
let folder: string

beforeAll(() => {
  mkdirSync(cache, { recursive: true })
  folder = mkdtempSync(join(cache, 'counts-'))
  // Of its own, since vitest would find that of the checkout.
  writeFileSync(join(folder, 'vitest.config.mjs'), 'export default {}')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs one test file of its own vitest and returns what a build server sees. */
function run(name: string, body: string): { line: string | undefined; status: number | null } {
  const file = join(folder, `${name}.spec.ts`)
  if (body) writeFileSync(file, `import { afterAll, beforeAll, describe, expect, it } from 'vitest'\n${body}`)
  const argv = ['run', '--root', folder, '--reporter', join(root, 'scripts', 'counts-reporter.ts'), file]
  const ran = spawnSync(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...argv], { encoding: 'utf8' })
  const lines = ran.stdout.split('\n').filter((line) => / passed, /.test(line))
  expect(lines, ran.stdout + ran.stderr).toHaveLength(1)
  return { line: lines[0], status: ran.status }
}

describe('the line a build server counts by', () => {
  it('counts what passed, and names nothing that is not there', () => {
    expect(run('passed', `it('a', () => {}); it('b', () => {})`)).toEqual({ line: '2 passed, 0 failed', status: 0 })
  })

  it('counts tests that are skipped or still to do as skipped', () => {
    expect(run('skipped', `it('a', () => {}); it.skip('b', () => {}); it.todo('c'); it('d', (test) => test.skip())`)).toEqual({
      line: '1 passed, 0 failed, 3 skipped',
      status: 0,
    })
  })

  it('counts a failed test', () => {
    expect(run('failed', `it('a', () => expect(1).toBe(2))`)).toEqual({ line: '0 passed, 1 failed', status: 1 })
  })

  it('counts a file that cannot be loaded as failed', () => {
    expect(run('unloadable', `import './missing.ts'; it('a', () => {})`)).toEqual({ line: '0 passed, 1 failed', status: 1 })
  })

  it('counts a file without a test as failed', () => {
    expect(run('empty', 'export {}')).toEqual({ line: '0 passed, 1 failed', status: 1 })
  })

  it('counts a failed hook of a suite as failed, and the tests it kept from running as skipped', () => {
    const hooks = `describe('x', () => { beforeAll(() => { throw new Error('before') }); it('a', () => {}) })
      describe('y', () => { afterAll(() => { throw new Error('after') }); it('b', () => {}) })`
    expect(run('hooks', hooks)).toEqual({ line: '1 passed, 2 failed, 1 skipped', status: 1 })
  })

  it('counts an error that nobody caught as failed', () => {
    const late = `it('a', () => new Promise((resolve) => { setImmediate(() => { setImmediate(resolve); throw new Error('late') }) }))`
    expect(run('unhandled', late)).toEqual({ line: '1 passed, 1 failed', status: 1 })
  })

  it('never tells of a failed run that nothing failed', () => {
    expect(run('absent', '')).toEqual({ line: '0 passed, 1 failed', status: 1 })
  })
})
