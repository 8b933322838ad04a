import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runProgram, runProgramSync } from '../src/run-program.ts'
import { textOf } from './open-launched.ts'
import { LAUNCHER, type Opened, openProvider, sh } from './open-provider.ts'

function places(): { base: string; first: string; second: string } {
  const base = mkdtempSync(join(tmpdir(), 'places-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [first, second] = [join(base, 'first'), join(base, 'second')]
  mkdirSync(first)
  mkdirSync(second)
  return { base, first, second }
}

/** With FIFOs, a command can open its own output; with pipes it cannot. */
async function expectFifosIn(place: string, { subprocess, said, runtime }: Opened): Promise<void> {
  const handle = subprocess.spawn(sh('echo a; echo b >/dev/stdout; readlink /proc/self/fd/1'))
  await handle.done
  expect(textOf(handle)).toMatch(new RegExp(`^a\nb\n${place}/tenon-[^/]+/[^/]+\\.fifo`))
  expect(said.filter(({ level }) => level === 'warn')).toEqual([])
  if (LAUNCHER === 'process') expect(runtime.launcher.pid).toBeDefined()
}

it('SP-33 a place in which no directory can be made is passed over', async () => {
  const { base, second } = places()
  await expectFifosIn(second, await openProvider({ settings: { pipeDirectories: [join(base, 'missing'), second] } }))
})

it('SP-33 a place in which no FIFO can be made is given up for the next, also when it fills up later', async () => {
  const { first, second } = places()
  let isFull = false
  const check = (args: readonly string[]): void => {
    if (isFull && args.some((arg) => arg.startsWith(first))) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
  }
  const world = {
    run: async (file: string, args: readonly string[]) => {
      check(args)
      await runProgram(file, args)
    },
    runSync: (file: string, args: readonly string[]) => {
      check(args)
      runProgramSync(file, args)
    },
  }
  const opened = await openProvider({ world, settings: { pipeDirectories: [first, second], launcher: 'host' } })
  const before = opened.subprocess.spawn(sh('readlink /proc/self/fd/1'))
  await before.done
  expect(textOf(before)).toContain(first)
  isFull = true
  await opened.runtime.channels.stock.idle()
  opened.runtime.channels.stock.clear()
  const after = opened.subprocess.spawn(sh('echo b >/dev/stdout; readlink /proc/self/fd/1'))
  await after.done
  expect(textOf(after)).toMatch(/^b\n.*second/)
  expect(opened.said.filter(({ level }) => level === 'warn')).toEqual([])
  await opened.close()
  expect([readdirSync(first), readdirSync(second)]).toEqual([[], []])
})

it.runIf(LAUNCHER === 'process')('LN-05 a place that is too long for the address of a socket is given up for the next', async () => {
  const { first, second } = places()
  const long = join(first, 'x'.repeat(100))
  mkdirSync(long)
  await expectFifosIn(second, await openProvider({ settings: { pipeDirectories: [long, second] } }))
})

it('SP-33 a place that goes while commands run is given up for the next', async () => {
  const { first, second } = places()
  const opened = await openProvider({ settings: { pipeDirectories: [first, second] } })
  await expectFifosIn(first, opened)
  await opened.runtime.channels.stock.idle()
  rmSync(first, { recursive: true })
  await expectFifosIn(second, opened)
})

it('SP-47 where FIFOs are follows the settings of now, whatever they were', async () => {
  const { base, first, second } = places()
  const opened = await openProvider({ settings: { spillDirectory: base, pipeDirectories: [base] } })
  const { runtime } = opened
  const adopt = (spillDirectory: string, pipeDirectories: readonly string[]): void =>
    runtime.adopt({ ...runtime.settings, spillDirectory, pipeDirectories }, runtime.warnings.log)
  await expectFifosIn(base, opened)
  adopt(base, [first, base])
  await expectFifosIn(first, opened)
  adopt(second, [second])
  await expectFifosIn(second, opened)
  adopt(base, [first, base])
  await expectFifosIn(first, opened)
  await opened.close()
  expect([readdirSync(first), readdirSync(second), readdirSync(base).sort()]).toEqual([[], [], ['first', 'second']])
})
