import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { endIfAlive, isAlive } from './alive.ts'
import { killMarked, marked } from './marked.ts'
import { openLaunched, textOf } from './open-launched.ts'
import { spec } from './open-provider.ts'
import { startProgram } from './run-host.ts'

const GRACE_MS = 3_000
/** The largest grace in use, and this. */
const BOUND_MS = GRACE_MS + 5_000

function ownTemp(): string {
  const directory = mkdtempSync(join(tmpdir(), 'host-test-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
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
      await killMarked(nonce)
      endIfAlive(parent)
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

describe('a host that is a command of another', () => {
  /** The inner host, with its twelve trees. */
  async function nested(graceMs: number) {
    const opened = await openLaunched()
    const temp = ownTemp()
    const program = fileURLToPath(new URL('programs/doomed.mjs', import.meta.url))
    const handle = opened.subprocess.spawn(spec([process.execPath, program, 'wait', '1000'], { env: { TMPDIR: temp }, graceMs }))
    await expect.poll(() => textOf(handle)).toContain('\n')
    const { parent, nonce } = JSON.parse(textOf(handle)) as { parent: number; nonce: string }
    onTestFinished(() => killMarked(nonce))
    return { handle, temp, parent, nonce }
  }

  it('LN-02 LN-08 its launcher is of its tree: who waits for it waits until nothing of the inner host is left', async () => {
    const { handle, temp, parent, nonce } = await nested(8_000)
    expect(parent).not.toBe(handle.pid)
    expect(await handle.survivors()).toBeGreaterThan(10)
    handle.terminate()
    expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
    expect(await handle.waitForExit(AbortSignal.timeout(20_000))).toBe(true)
    expect([isAlive(parent), await marked(nonce), readdirSync(temp), readdirSync(join(temp, 'second'))]).toEqual([false, [], ['second'], []])
  })

  it('LN-02 LN-08 where the outer grace is too short for that, its launcher is ended too', async () => {
    const { handle, parent } = await nested(200)
    handle.terminate()
    expect(await handle.waitForExit(AbortSignal.timeout(20_000))).toBe(true)
    expect(isAlive(parent)).toBe(false)
  })
})
