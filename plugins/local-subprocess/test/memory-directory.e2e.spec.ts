import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { memoryDirectories } from '../src/channel/memory-directory.ts'
import { LAUNCHER } from './open-provider.ts'
import { startProgram } from './run-host.ts'

const SHARED = '/dev/shm'
const TMPFS = 0x01021994
const hasMemory = existsSync(SHARED) && statfsSync(SHARED).type === TMPFS

function ownDirectory(base: string, mode = 0o700): string {
  const directory = mkdtempSync(join(base, 'memory-test-'))
  chmodSync(directory, mode)
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const user = process.getuid?.()

it.skipIf(!hasMemory)('SP-35 the runtime directory of the session is taken if it is in memory and closed to others', () => {
  const own = ownDirectory(SHARED)
  expect(memoryDirectories(own, user)).toEqual([own, SHARED])
  expect(memoryDirectories(SHARED, user)).toEqual([SHARED])
  expect(memoryDirectories(own, 4_711)).toEqual([SHARED])
  const long = join(own, 'a'.repeat(60))
  mkdirSync(long, { mode: 0o700 })
  const others = [undefined, '', 'dev/shm', join(own, 'missing'), long, ownDirectory(SHARED, 0o755)]
  for (const other of others) expect(memoryDirectories(other, user)).toEqual([SHARED])
})

it.skipIf(statfsSync(tmpdir()).type === TMPFS)('SP-35 one on a disk is not', () => {
  const onDisk = ownDirectory(tmpdir())
  expect(memoryDirectories(onDisk, user)).toEqual(hasMemory ? [SHARED] : [])
})

it.skipIf(!hasMemory).each(['SIGTERM', 'SIGKILL'] as const)(
  'SP-37 LN-02 FIFOs are in memory where nobody names a directory for temporary files, what overflows is not, and %s leaves nothing of either',
  async (signal) => {
    const runtime = ownDirectory(SHARED)
    const host = startProgram('in-memory', [], [], { TMPDIR: undefined, TMP: undefined, TEMP: undefined, XDG_RUNTIME_DIR: runtime })
    const { fifos, launcher, contents } = (await host.next()) as Record<string, string>
    const [place] = readdirSync(runtime)
    const names = join(runtime, place ?? '')
    // The name of a FIFO goes when both its ends are open.
    expect([fifos, dirname(contents ?? '')]).toEqual([names, '/tmp'])
    if (LAUNCHER === 'process') expect(launcher).toBe(names)
    host.child.kill(signal)
    await host.ended
    // With commands started by the host itself nobody is left to do it: that is for the next start.
    if (signal === 'SIGTERM' || LAUNCHER === 'process') {
      await expect.poll(() => [readdirSync(runtime), existsSync(contents ?? '')]).toEqual([[], false])
    }
  },
)

it.skipIf(!hasMemory)('SP-37 what a host has left in memory is swept at the next start', async () => {
  const runtime = ownDirectory(SHARED)
  const env = { TMPDIR: undefined, TMP: undefined, TEMP: undefined, XDG_RUNTIME_DIR: runtime, TENON_TEST_LAUNCHER: 'host' }
  const first = startProgram('in-memory', [], [], env)
  await first.next()
  const left = readdirSync(runtime)
  first.child.kill('SIGKILL')
  await first.ended
  expect(readdirSync(runtime)).toEqual(left)
  const second = startProgram('in-memory', [], [], env)
  await second.next()
  await expect.poll(() => readdirSync(runtime)).not.toContain(left[0])
  second.child.kill('SIGTERM')
  await second.ended
  expect(readdirSync(runtime)).toEqual([])
})

it.each(['TMPDIR', 'TMP', 'TEMP'])('SP-35 a directory for temporary files that %s names holds FIFOs too', async (name) => {
  const named = ownDirectory(tmpdir())
  const host = startProgram('in-memory', [], [], { TMPDIR: undefined, TMP: undefined, TEMP: undefined, [name]: named })
  const { fifos, contents } = (await host.next()) as Record<string, string>
  expect(fifos).toBe(contents)
  expect(dirname(fifos ?? '')).toBe(named)
  host.child.kill('SIGTERM')
  await host.ended
  expect(readdirSync(named)).toEqual([])
})
