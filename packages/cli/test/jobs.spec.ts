import { expect, it } from 'vitest'
import { folder, tenon } from './harness.ts'
import { JOBS_CATALOG, JOBS_PLUGIN } from './jobs-plugin.ts'

async function script(lines: readonly string[]): Promise<{ readonly status: number; readonly stdout: string; readonly stderr: string }> {
  const cwd = await folder({ 'tenon.yaml': JOBS_CATALOG, 'jobs.ts': JOBS_PLUGIN })
  return tenon(['run', '--log-level', 'silent'], { cwd, stdin: lines.join('\n') })
}

it('CP-13 `jobs` lists the jobs, `stop` ends one with a reason, `follow` shows its output to the end', async () => {
  const { status, stdout, stderr } = await script(['jobs', 'start', 'jobs', 'stop test-1 no longer needed', 'follow test-1', 'jobs', 'stop test-1'])
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(
    new RegExp(
      [
        '^no jobs',
        'test-1',
        'test-1 {2}running {2}0s {2}console-7 {2}a job \\[2J of the test',
        'stopping test-1',
        'last words',
        '\\[test-1: killed, stopped; no longer needed\\]',
        'test-1 {2}killed, stopped; no longer needed {2}0s {2}console-7 {2}a job \\[2J of the test',
        'test-1 had already finished\n$',
      ].join('\n'),
    ),
  )
})

it('CP-13 an unknown job, and a composition without jobs, are said', async () => {
  expect(await script(['stop nobody-1', 'follow'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/unknown job nobody-1.*\n.*write follow ID/),
  })
  const cwd = await folder({ 'tenon.yaml': 'plugins:\n  tools: tools\n' })
  expect(await tenon(['run'], { cwd, stdin: 'jobs\n' })).toMatchObject({ status: 1, stderr: expect.stringContaining('no row that provides "jobs"') })
})

it('CP-13 a notice to the session of the console is shown as its summary', async () => {
  expect(await script(['notice'])).toMatchObject({ status: 0, stdout: 'delivered\n', stderr: 'short news\n' })
})
