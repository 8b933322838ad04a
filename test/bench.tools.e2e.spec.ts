import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { root, runMeasurement } from './run-measurement.ts'

/** Each section is a process of its own, and some of them start others. */
const LONGEST_MS = 300_000

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-bench-tools-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('a trial of the tools bench measures every promise of tools and jobs and reports it', { timeout: LONGEST_MS }, async () => {
  const report = join(folder, 'performance.md')
  const stdout = await runMeasurement('bench', ['tools', '--quick', '--report', report])
  const text = await readFile(report, 'utf8')
  expect(text).toContain('<!-- bench:tools -->')
  expect(text).toContain(stdout.trim())
  for (const promise of [
    /pipeline: cost of a call with \d+ tools/,
    /pipeline: a call with \d+ tools over one with a single tool/,
    /get, of \d+ tools/,
    /view of \d+ tools, unchanged/,
    /one of \d+ tools changed: input schemas converted +\| 1\.00 schemas/,
    /assembly of \d+ unchanged static sections/,
    /bash tool, `true` as a job, over a bare spawn/,
    /job: start, settle and remove over a bare execute/,
    /list of \d+ live jobs/,
    /kill among \d+ live jobs over kill among \d+/,
    /\d+ idle jobs: timers +\| 0\.00 timers/,
    /\d+ unfollowed jobs: readers that are asked +\| 0\.00 readers/,
    /follow: .* 99th percentile/,
    /\d+ idle commands for .*: part of a core/,
    /heap left by \d+ bash calls of `true`/,
    /heap left by \d+ foreground calls on an instant executor/,
    /a settled record, beside its readers/,
  ]) {
    expect(stdout).toMatch(promise)
  }
  expect(text).not.toContain(root)
})
