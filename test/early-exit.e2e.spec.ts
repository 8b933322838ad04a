import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
