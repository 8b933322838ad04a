import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { root, runMeasurement } from './run-measurement.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tenon-bench-mcp-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('a trial of the mcp bench measures round trips, calls at once and followed jobs, and reports them', async () => {
  const report = join(folder, 'performance.md')
  const stdout = await runMeasurement('bench', ['mcp', '--quick', '--report', report])
  const text = await readFile(report, 'utf8')
  expect(text).toContain('<!-- bench:mcp -->')
  expect(text).toContain(stdout.trim())
  for (const finding of [
    /`true` through MCP over the same through the bare server +\| [\d.]+x/,
    /`true` through MCP, 99th percentile +\| [\d.]+ ms/,
    /`true` through the bare server, 99th percentile/,
    /\d+ calls at once over the same through the bare server/,
    /\d+ calls at once, until the last is answered/,
    /the output of a job, followed by `job_output` +\| [\d.,]+ MiB\/s/,
    /the resource of a job, read again and again +\| [\d.,]+ MiB\/s/,
    /from what a job writes to the news of its resource, at most four a second +\| [\d.,]+ ms/,
  ]) {
    expect(stdout).toMatch(finding)
  }
  expect(text).not.toContain(root)
})
