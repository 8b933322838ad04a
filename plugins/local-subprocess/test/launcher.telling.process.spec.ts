import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { endIfAlive } from './alive.ts'
import { openChildren } from './open-children.ts'
import { openLaunched } from './open-launched.ts'
import { sh } from './open-provider.ts'

/** A FIFO whose other end is the test's: what reads it ends when the test closes that. */
function heldFifo(flags: number): { path: string; close(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'telling-test-'))
  const path = join(directory, 'held')
  execFileSync('mkfifo', [path])
  const ends = [openSync(path, constants.O_RDWR), openSync(path, flags)]
  const close = (): void => {
    for (const end of ends.splice(0)) closeSync(end)
  }
  onTestFinished(() => {
    close()
    rmSync(directory, { recursive: true })
  })
  return { path, close }
}

const STARTED = { pid: expect.any(Number), start: expect.any(Number) }

it('LN-07 a start is told with the exit, in one message, where that follows soon', async () => {
  const { said, spawn } = openChildren()
  const isOne = (): boolean => said.some((message) => message.type === 'exited' && message.started !== undefined)
  // On a busy machine no command is a short one.
  for (let id = 0; !isOne() && id < 100; id++) {
    spawn(id, 'exit 3', { isSilent: true })
    await expect.poll(() => said.at(-1)).toMatchObject({ type: 'exited', id, exitCode: 3, signal: null })
    if (isOne()) expect(said.filter((message) => 'id' in message && message.id === id)).toEqual([expect.objectContaining({ started: STARTED })])
  }
  expect(isOne()).toBe(true)
})

it('LN-07 a start that has not been told is, when it is called off too late', async () => {
  const { said, spawn, children } = openChildren()
  spawn(1, 'exec sleep 600')
  // Nobody is told of a start in the turn in which it is made.
  expect(said).toEqual([])
  children.revoke(1)
  expect(said).toEqual([{ type: 'started', id: 1, ...STARTED }])
  const { pid } = said[0] as { readonly pid: number }
  onTestFinished(() => endIfAlive(pid))
  children.revoke(1)
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => said.slice(1)).toEqual([{ type: 'exited', id: 1, exitCode: null, signal: 'SIGKILL' }])
})

it('LN-07 one that runs on is told of without being asked for, once', async () => {
  const { said, spawn } = openChildren()
  spawn(1, 'exec sleep 600')
  await expect.poll(() => said).toEqual([{ type: 'started', id: 1, ...STARTED }])
  const { pid } = said[0] as { readonly pid: number }
  onTestFinished(() => endIfAlive(pid))
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => said.slice(1)).toEqual([{ type: 'exited', id: 1, exitCode: null, signal: 'SIGKILL' }])
})

it('LN-10 one whose input waits for whoever is told is told of at once', async () => {
  const { said, spawn } = openChildren()
  const input = heldFifo(constants.O_RDONLY | constants.O_NONBLOCK)
  spawn(1, 'cat', { stdin: { kind: 'fifo', path: input.path } })
  expect(said).toEqual([{ type: 'started', id: 1, ...STARTED }])
  input.close()
  await expect.poll(() => said.at(-1)).toEqual({ type: 'exited', id: 1, exitCode: 0, signal: null })
})

it('LN-01 a host that is told of start and exit at once has the pid, all of the output, and what was left behind', async () => {
  const { subprocess } = await openLaunched()
  const told: string[] = []
  const handle = subprocess.spawn(sh('echo out; echo err >&2; sleep 600 & exit 5'))
  void handle.started.then((started) => told.push(`started ${started} ${typeof handle.pid}`))
  void handle.done.then(({ exitCode }) => told.push(`done ${exitCode}`))
  await handle.done
  expect(told).toEqual(['started true number', 'done 5'])
  expect([handle.output.stdout?.readFrom(0).text, handle.output.stderr?.readFrom(0).text]).toEqual(['out\n', 'err\n'])
  expect(await handle.survivors()).toBe(1)
  handle.terminate()
  expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
})

it('SP-29 what a survivor writes after that is read, until it ends', async () => {
  const { subprocess } = await openLaunched()
  const held = heldFifo(constants.O_RDONLY | constants.O_NONBLOCK)
  const handle = subprocess.spawn(sh(`exec 3<'${held.path}'; (read line <&3; echo late) & echo early`))
  await handle.done
  const { stdout } = handle.output
  expect([stdout?.readFrom(0).text, stdout?.finished]).toEqual(['early\n', false])
  held.close()
  await expect.poll(() => [stdout?.readFrom(0).text, stdout?.finished]).toEqual(['early\nlate\n', true])
})
