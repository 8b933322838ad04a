import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { expect, it, onTestFinished } from 'vitest'
import { LinuxTable } from '../src/tree/linux-table.ts'
import { isAlive } from './alive.ts'
import { startProgram } from './run-host.ts'

const GRACE_MS = 3_000
/** The largest grace in use, and this. */
const BOUND_MS = GRACE_MS + 5_000

function ownTemp(): string {
  const directory = mkdtempSync(join(tmpdir(), 'host-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

/** All processes with a cookie of the runtime. */
async function marked(nonce: string): Promise<number[]> {
  const snapshot = await new LinuxTable(COOKIE_VARIABLE).snapshot()
  if (snapshot === undefined) throw new Error('cannot read the process table')
  return [...snapshot.entries.values()].filter((entry) => !entry.zombie && snapshot.cookie(entry)?.startsWith(`${nonce}.`)).map(({ pid }) => pid)
}

it.each([
  ['is killed', 'wait', {}, 'SIGKILL'],
  ['runs out of memory', 'memory', { NODE_OPTIONS: '--max-old-space-size=48' }, 'SIGABRT'],
  ['violates a segment', 'segfault', {}, 'SIGSEGV'],
] as const)(
  'LN-02 a host with twelve hostile trees %s: within the bound nothing is alive, and no directory or socket is left',
  async (_, how, env, signal) => {
    const temp = ownTemp()
    const host = startProgram('doomed', [how, String(GRACE_MS)], [], { TMPDIR: temp, ...env })
    const { parent, nonce } = (await host.next()) as { parent: number; nonce: string }
    onTestFinished(async () => {
      for (const pid of await marked(nonce)) process.kill(pid, 'SIGKILL')
      if (isAlive(parent)) process.kill(parent, 'SIGKILL')
    })
    if (how === 'wait') {
      // Some trees are of two processes, or three.
      expect((await marked(nonce)).length).toBeGreaterThanOrEqual(12)
      expect([readdirSync(temp).length, readdirSync(join(temp, 'second')).length]).toEqual([2, 1])
      host.child.kill('SIGKILL')
    }
    const ended = await host.ended
    expect(ended.signal).toBe(signal)
    await expect.poll(() => marked(nonce), { timeout: BOUND_MS }).toEqual([])
    const left = (): unknown[] => [isAlive(parent), readdirSync(temp), readdirSync(join(temp, 'second'))]
    await expect.poll(left, { timeout: Math.max(1, ended.endedAt + BOUND_MS - Date.now()) }).toEqual([false, ['second'], []])
  },
)
