import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { killMarked, marked } from './marked.ts'
import { startProgram } from './run-host.ts'

async function play(scenario: string) {
  const temp = mkdtempSync(join(tmpdir(), 'exhausted-test-'))
  onTestFinished(() => rmSync(temp, { recursive: true, force: true }))
  const run = await startProgram('exhausted', [scenario], ['sh', '-c', 'ulimit -n 512; exec "$@"', 'sh'], { TMPDIR: temp }).ended
  const { nonce, ...facts } = run.facts[0] as { nonce: string } & Record<string, unknown>
  onTestFinished(() => killMarked(nonce))
  return { ...run, nonce, facts, temp }
}

describe.runIf(process.platform === 'linux')('a host without a descriptor left', () => {
  it('LN-04 SP-04 ends trees by signal, by hand and at its close, escapees too, and counts them before', async () => {
    const { facts, stderr, exitCode, nonce, temp } = await play('ends')
    expect([exitCode, stderr]).toEqual([0, ''])
    // One in a session of its own, and with it a sleep or none.
    expect(facts).toEqual({ code: 'EMFILE', gone: [true, true], survivors: expect.any(Number), closed: 'closed', left: true })
    expect(facts.survivors).toBeGreaterThan(0)
    expect(await marked(nonce)).toEqual([])
    expect(readdirSync(temp)).toEqual([])
  })

  it('SP-50 leaves nothing when it exits', async () => {
    const { facts, exitCode, nonce, temp } = await play('exits')
    expect([exitCode, facts]).toEqual([4, { code: 'EMFILE' }])
    // KILL was sent; on a loaded machine it takes its time to arrive.
    await expect.poll(() => marked(nonce)).toEqual([])
    await expect.poll(() => readdirSync(temp)).toEqual([])
  })
})
