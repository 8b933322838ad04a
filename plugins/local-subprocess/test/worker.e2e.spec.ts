import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { endIfAlive, isAlive } from './alive.ts'
import { textOf } from './open-launched.ts'
import { LAUNCHER, openProvider, sh } from './open-provider.ts'
import { startProgram } from './run-host.ts'

it.each([
  ['close', 0],
  ['exit', 3],
  ['terminate', 1],
])('SP-36 SP-50 in a worker thread everything works, and its end (%s) closes nothing of another thread', async (how, exitCode) => {
  const temporary = mkdtempSync(join(tmpdir(), 'worker-test-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const host = startProgram('worker', [how], [], { TMPDIR: temporary })
  const { pid, ...facts } = await host.next()
  onTestFinished(() => endIfAlive(Number(pid)))
  expect(facts).toEqual({
    texts: [['captured', 'data', '2000000', 'piped', 'raw', 588_895]],
    warned: [expect.stringContaining('in a worker thread')],
    exitCode,
    closed: [],
  })
  expect((await host.ended).stderr).toBe('')
  // Of a thread that is terminated nothing runs any more: what is left is for the launcher.
  if (how === 'terminate' && LAUNCHER === 'host') return
  await expect.poll(() => isAlive(Number(pid))).toBe(false)
  await expect.poll(() => readdirSync(temporary)).toEqual([])
})

it('SP-33 in a worker thread no FIFO is made, commands are children of the host, and that is told once', async () => {
  const opened = await openProvider({ world: { isMainThread: false } })
  const { subprocess, runtime, directory, said } = opened
  const handles = Array.from({ length: 3 }, () => subprocess.spawn(sh('echo $PPID; cat', { stdin: { data: 'data' } })))
  await Promise.all(handles.map(({ done }) => done))
  expect(handles.map(textOf)).toEqual(handles.map(() => `${process.pid}\ndata`))
  await runtime.channels.stock.idle()
  expect(readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.fifo'))).toEqual([])
  runtime.adopt(runtime.settings, runtime.warnings.log)
  expect(said.filter(({ level }) => level === 'warn')).toHaveLength(1)
})
