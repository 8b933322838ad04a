import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const program = fileURLToPath(new URL('../packages/cli/bin/tenon.js', import.meta.url))

function composition(code: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tenon-early-exit-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(path.join(folder, 'quits.mjs'), code)
  writeFileSync(path.join(folder, 'tenon.yaml'), 'plugins:\n  quits: ./quits.mjs\n')
  return folder
}

it.each([['check'], ['call', 'echo']])('CP-13 a plugin that ends the process at import is no success: %s', (...args) => {
  const cwd = composition('process.exit(0)\n')
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8' })
  expect([status, stdout]).toEqual([70, ''])
  expect(stderr).toMatch(/^error: the program ended before the command had finished: process\.exit\(0\) was called, .*quits\.mjs.*\n$/)
})

it.each([[1], [70], [143]])('CP-13 a plugin that ends the process with %i is named all the same', (code) => {
  const cwd = composition(`process.exit(${code})\n`)
  const { status, stderr } = spawnSync(process.execPath, [program, 'check'], { cwd, encoding: 'utf8' })
  expect([status, stderr]).toEqual([70, expect.stringMatching(new RegExp(`process\\.exit\\(${code}\\) was called, .*quits\\.mjs`))])
})

it.each([
  ['at its top', 'process.exit(0)\n'],
  ['in a function', 'function quit() {\n  process.exit(0)\n}\nquit()\n'],
])('CP-13 the place where a plugin by path ends the process is whole, though its name holds parentheses: %s', (_, code) => {
  const cwd = composition(code)
  const { status, stderr } = spawnSync(process.execPath, [program, 'check'], { cwd, encoding: 'utf8' })
  const place = path.join(cwd, 'quits.mjs')
  expect([status, stderr]).toEqual([70, expect.stringMatching(new RegExp(`process\\.exit\\(0\\) was called, ${place} \\(bundled\\):\\d+:\\d+\n$`))])
})

it('CP-13 a plugin that throws where nobody can catch it is told without a stack, also by a command that activates nothing', () => {
  const cwd = composition("await new Promise(() => setImmediate(() => { throw new Error('too late') }))\n".replace('await ', 'void '))
  writeFileSync(path.join(cwd, 'tenon.yaml'), 'plugins:\n  a: ./quits.mjs\n  b: ./slow.mjs\n')
  writeFileSync(path.join(cwd, 'slow.mjs'), `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)\n`)
  const { status, stderr } = spawnSync(process.execPath, [program, 'check'], { cwd, encoding: 'utf8' })
  expect([status, stderr]).toEqual([70, 'error: too late (nobody caught it)\n'])
})

it.skipIf(process.platform !== 'linux')('CP-13 output that cannot be written is told, and ends with 1', () => {
  const full = openSync('/dev/full', 'w')
  onTestFinished(() => closeSync(full))
  const { status, stderr } = spawnSync(process.execPath, [program, 'schema'], { stdio: ['ignore', full, 'pipe'], encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^error: standard output cannot be written: ENOSPC.*\n$/)])
})

it('CP-13 what goes wrong while nobody reads standard error keeps its exit code', async () => {
  for (const [args, code] of [
    [['bogus'], 2],
    [['call', 'none.yaml', 'x'], 3],
  ] as const) {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
    child.stderr.destroy()
    expect(await once(child, 'exit')).toEqual([code, null])
  }
})
