import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { type Composition, compose, delivered, shown, until } from './composition.ts'

let app: Composition
afterEach(() => app[Symbol.asyncDispose]())

/** Pid of the launcher: until it is there the host is the parent of its commands. */
async function launcher(): Promise<number> {
  for (;;) {
    // The shell execs its only command.
    const parent = Number(shown(await app.run(`cut -d' ' -f4 /proc/self/stat`)))
    if (parent !== process.pid) return parent
  }
}

it('LN-03 whoever reads of a command whose launcher was lost is told that its exit status is not known', async () => {
  app = await compose({ tool: 'bash', jobs: {} })
  const pid = await launcher()
  expect(readFileSync(`/proc/${pid}/cmdline`, 'latin1')).toContain('launcher')
  const go = join(mkdtempSync(join(tmpdir(), 'launcher-lost-')), 'go')
  onTestFinished(() => rmSync(dirname(go), { recursive: true, force: true }))
  const foreground = app.run(`echo out; until [ -e ${go} ]; do sleep 0.02; done; exit 3`)
  const background = app.run(`echo early; until [ -e ${go} ]; do sleep 0.02; done; echo late`, { run_in_background: true })
  const { jobId } = delivered(await background) as { jobId: string }
  await until(() => app.jobs.list('host').filter(({ output }) => (output.stdout?.size ?? 0) > 0).length === 2)
  process.kill(pid, 'SIGKILL')
  writeFileSync(go, '')
  const result = await foreground
  expect(shown(result)).toBe('out\n[exit status unknown: the launcher was lost]')
  expect(delivered(result)).toMatchObject({ kind: 'foreground', exitCode: null, signal: null, lost: true, timedOut: false })
  await app.jobs.wait(jobId, 20_000, 'host')
  expect(app.jobs.get(jobId, 'host')).toMatchObject({ status: 'killed', detail: { outcome: 'exit status unknown: the launcher was lost' } })
  const text = app.jobs.read(jobId, app.session).chunks.map((chunk) => chunk.text)
  expect(text.join('')).toBe('early\nlate\n')
  expect(shown(await app.run('echo next; exit 4'))).toBe('next\n[exit code: 4]')
})
