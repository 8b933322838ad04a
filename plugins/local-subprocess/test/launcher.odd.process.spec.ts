import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { isAlive } from './alive.ts'
import { launcherOf, type OpenedLauncher, parentOf, saidAs, textOf } from './open-launched.ts'
import { openOdd } from './open-odd.ts'
import { sh } from './open-provider.ts'

async function expectReplaced(opened: OpenedLauncher): Promise<void> {
  await expect.poll(() => isAlive(opened.launcher)).toBe(false)
  await opened.runtime.launcher.idle()
  expect(launcherOf(opened)).not.toBe(opened.launcher)
  expect(await parentOf(opened)).toBe(launcherOf(opened))
  expect(saidAs(opened, 'warn')).toEqual([expect.stringContaining('the launcher process ended')])
  await expect.poll(() => [opened.runtime.starting.size, opened.runtime.live.size, opened.runtime.open.size]).toEqual([0, 0, 0])
}

describe('a launcher that does what it should not', () => {
  it.each(['garbage', 'unknown', 'confused', 'half', 'silence'])(
    'LN-03 LN-04 (%s) is replaced, and the command it was given runs once, elsewhere',
    async (way) => {
      const opened = await openOdd(way)
      const handle = opened.subprocess.spawn(sh('cat; echo ran; echo err >&2; exit 3', { stdin: { data: 'in ' } }))
      expect(handle.pid).toBeUndefined()
      expect(await handle.started).toBe(true)
      expect(await handle.done).toEqual({ exitCode: 3, signal: null })
      expect([textOf(handle), handle.output.stderr?.readFrom(0).text]).toEqual(['in ran\n', 'err\n'])
      expect(await handle.waitForExit()).toBe(true)
      await expectReplaced(opened)
    },
  )

  it('LN-03 that ends by a fault of its own says which, for the log', async () => {
    const opened = await openOdd('crash')
    const handle = opened.subprocess.spawn(sh('echo ran'))
    expect(await handle.done).toEqual({ exitCode: 0, signal: null })
    await expectReplaced(opened)
    expect(opened.said).toContainEqual(expect.objectContaining({ level: 'warn', facts: { ends: 1, why: 'Error: the very fault' } }))
  })

  it('LN-03 LN-10 raw streams, and more data than a file is made for, go along to where it runs', async () => {
    const opened = await openOdd('garbage')
    const data = 'x'.repeat(2_000_000)
    const raw = opened.subprocess.spawn(sh('wc -c; echo err >&2', { stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' }))
    const fed = opened.subprocess.spawn(sh('wc -c', { stdin: { data } }))
    raw.stdin?.end(data)
    const said = await Promise.all([raw.stdout, raw.stderr].map((stream) => text(stream ?? Readable.from([]))))
    expect(said.map((each) => each.trim())).toEqual(['2000000', 'err'])
    expect(await Promise.all([raw.done, fed.done])).toEqual([0, 0].map((exitCode) => ({ exitCode, signal: null })))
    expect(textOf(fed).trim()).toBe('2000000')
    await expectReplaced(opened)
  })

  it('LN-03 LN-07 and where it cannot run elsewhere either, that is told', async () => {
    const opened = await openOdd('garbage')
    const handle = opened.subprocess.spawn(sh('true', { argv: ['no-such-program-anywhere'] }))
    await expect(handle.done).rejects.toMatchObject({ code: 'SPAWN_FAILED', cause: { code: 'ENOENT' } })
    expect(await handle.started).toBe(false)
    await expectReplaced(opened)
  })
})

describe('a launcher that is gone between the claim and the answer', () => {
  it('LN-03 LN-07 with nothing started: it is not begun again, and nobody knows whether it ran', async () => {
    const opened = await openOdd('claimed')
    const handle = opened.subprocess.spawn(sh('echo ran'))
    expect(await handle.done).toEqual({ exitCode: null, signal: null, lost: true })
    expect([await handle.started, handle.pid, textOf(handle), handle.output.stdout?.finished]).toEqual([true, undefined, '', true])
    expect([await handle.waitForExit(), await handle.survivors()]).toEqual([true, 0])
    handle.terminate()
    await expectReplaced(opened)
  })

  it.each([
    ['started', 'started'],
    ['forked, and executed a tenth of a second later', 'forked'],
  ])('LN-03 LN-07 with the program %s: it is found by its cookie, and looked after to its end', async (_, way) => {
    const opened = await openOdd(way)
    const handle = opened.subprocess.spawn(sh('echo ran; read line; echo "after $line"', { stdin: 'pipe' }))
    expect(await handle.started).toBe(true)
    expect(isAlive(handle.pid ?? 0)).toBe(true)
    handle.stdin?.end('loss\n')
    expect(await handle.done).toEqual({ exitCode: null, signal: null, lost: true })
    expect(textOf(handle)).toBe('ran\nafter loss\n')
    expect(await handle.waitForExit()).toBe(true)
    await expectReplaced(opened)
  })

  it('LN-03 LN-07 with the program started and an abort on its way: it is ended', async () => {
    const opened = await openOdd('started')
    const handle = opened.subprocess.spawn(sh('trap "" TERM; echo up; while :; do sleep 0.05; done', { graceMs: 200 }))
    await expect.poll(() => opened.runtime.launcher.pid).not.toBe(opened.launcher)
    await handle.output.stdout?.changed(0, AbortSignal.timeout(10_000))
    handle.terminate()
    expect(await handle.done).toEqual({ exitCode: null, signal: null, lost: true })
    expect([await handle.waitForExit(), isAlive(handle.pid ?? 0)]).toEqual([true, false])
    await expectReplaced(opened)
  })
})
