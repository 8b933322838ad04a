import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kernel } from '@tenon/kernel'
import { Subprocess } from '@tenon/subprocess'
import { expect, it, onTestFinished } from 'vitest'
import { isAlive } from './alive.ts'
import localSubprocess from './launched.ts'
import { sh } from './open-provider.ts'

function boot() {
  const kernel = new Kernel()
  onTestFinished(() => kernel.close())
  return { kernel, row: kernel.load(localSubprocess) }
}

function provided(kernel: Kernel): Subprocess {
  const subprocess = kernel.get(Subprocess)
  if (subprocess === undefined) throw new Error('nobody provides subprocess')
  return subprocess
}

it('a row of the plugin provides the capability', async () => {
  const { kernel, row } = boot()
  await row.ready()
  const handle = provided(kernel).spawn(sh('echo hello'))
  expect(await handle.done).toEqual({ exitCode: 0, signal: null })
  expect(handle.output.stdout?.readFrom(0).text).toBe('hello\n')
})

it('SP-47 a new config leaves processes, handles and readers alone and applies to later spawns', async () => {
  const { kernel, row } = boot()
  await row.ready()
  const first = provided(kernel).spawn(sh('echo before; read line; echo "after $line"', { stdin: 'pipe' }))
  await row.reconfigure({ environment: { deny: ['HOME'] } })
  first.stdin?.end('reload\n')
  expect(await first.done).toEqual({ exitCode: 0, signal: null })
  expect(first.output.stdout?.readFrom(0).text).toBe('before\nafter reload\n')
  expect(await first.waitForExit()).toBe(true)
  const second = provided(kernel).spawn(sh('echo "[$HOME]"'))
  await second.done
  expect(second.output.stdout?.readFrom(0).text).toBe('[]\n')
})

it('SP-47 a new spillDirectory holds what overflows from then on, and what the old one holds stays', async () => {
  const base = mkdtempSync(join(tmpdir(), 'plugin-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [one, other] = [join(base, 'one'), join(base, 'other')]
  mkdirSync(one)
  mkdirSync(other)
  const kernel = new Kernel()
  onTestFinished(() => kernel.close())
  const row = kernel.load(localSubprocess, { spillDirectory: one })
  await row.ready()
  const overflow = { stdout: { maxBytes: 100, spill: { maxBytes: 1_048_576 } } }
  const before = provided(kernel).spawn(sh('seq 1000', overflow))
  await before.done
  await row.reconfigure({ spillDirectory: other })
  const after = provided(kernel).spawn(sh('seq 1000', overflow))
  await after.done
  const paths = [before, after].map((handle) => handle.output.stdout?.spillPath ?? '')
  expect([paths[0]?.startsWith(one), paths[1]?.startsWith(other)]).toEqual([true, true])
  expect(paths.map((path) => readFileSync(path, 'utf8').length)).toEqual([3_893, 3_893])
  await kernel.close()
  expect([readdirSync(one), readdirSync(other)]).toEqual([[], []])
})

it.each([
  [{ spillDirectory: 'relative' }, 'spillDirectory'],
  [{ killWaitMs: 0 }, 'killWaitMs'],
  [{ minFreeBytes: -1 }, 'minFreeBytes'],
  [{ retainedSpillBytes: 1.5 }, 'retainedSpillBytes'],
  [{ environment: { denied: [] } }, 'denied'],
])('a config that is wrong is refused by its name: %j', (config, name) => {
  const kernel = new Kernel()
  onTestFinished(() => kernel.close())
  expect(() => kernel.load(localSubprocess, config as object)).toThrow(name)
})

it('SP-47 new code leaves processes, handles and readers alone', async () => {
  const { kernel, row } = boot()
  await row.ready()
  const handle = provided(kernel).spawn(sh('echo before; read line; echo "after $line"; sleep 60', { stdin: 'pipe' }))
  await row.replace({ ...localSubprocess })
  handle.stdin?.write('reload\n')
  const { stdout } = handle.output
  while (stdout !== undefined && !stdout.readFrom(0).text.includes('after')) await stdout.changed(stdout.size(), AbortSignal.timeout(5_000))
  expect(stdout?.readFrom(0).text).toBe('before\nafter reload\n')
  handle.terminate()
  expect(await handle.waitForExit()).toBe(true)
  expect(await handle.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
})

it('SP-48 unloading the row ends running trees and the survivors of finished leaders, and waits for them', async () => {
  const { kernel, row } = boot()
  await row.ready()
  const subprocess = provided(kernel)
  const running = subprocess.spawn(sh('sleep 60 & sleep 60'))
  const left = subprocess.spawn(sh('sleep 60 & echo $!'))
  const escaped = subprocess.spawn(sh('setsid sleep 60 >/dev/null 2>&1 & sleep 0.1; echo $!'))
  const racing = subprocess.spawn(sh('true', { cwd: '/nowhere' }))
  await Promise.all([left.done, escaped.done])
  const pids = [left, escaped].map((handle) => Number(handle.output.stdout?.readFrom(0).text))
  await row.unload()
  expect(pids.map(isAlive)).toEqual([false, false])
  expect(await running.done).toEqual({ exitCode: null, signal: 'SIGTERM' })
  expect(await running.waitForExit()).toBe(true)
  await expect(racing.done).rejects.toMatchObject({ code: 'SPAWN_FAILED' })
  const late = subprocess.spawn(sh('true'))
  expect(late.pid).toBeUndefined()
  await expect(late.done).rejects.toMatchObject({ code: 'RUNTIME_CLOSED' })
})
