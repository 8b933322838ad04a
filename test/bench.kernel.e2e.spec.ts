import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { root, runMeasurement } from './run-measurement.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-bench-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('a trial of the kernel bench measures every promise of the kernel and reports it', async () => {
  const report = join(folder, 'performance.md')
  const stdout = await runMeasurement('bench', ['kernel', '--quick', '--report', report])
  const text = await readFile(report, 'utf8')
  expect(text).toContain('<!-- bench:kernel -->')
  expect(text).toContain(stdout.trim())
  for (const promise of [
    /load \d+ plugins, cold: times faster than cordis/,
    /chain of \d+, boot, cold: times faster than cordis/,
    /chain of \d+, root restart, cold: times faster than cordis/,
    /chain of \d+, close, cold: times faster than cordis/,
    /load, cold: time per plugin at \d+ over that at \d+/,
    /flip a provider: cost per dependent with \d+ over that with \d+/,
    /flip a provider of \d+: cost per dependent beside \d+ other rows/,
    /call through an injected capability over a local variable/,
    /emit to 10 listeners over a plain loop/,
    /memory per active plugin with one effect/,
  ]) {
    expect(stdout).toMatch(promise)
  }
  expect(text).not.toContain(root)
})
