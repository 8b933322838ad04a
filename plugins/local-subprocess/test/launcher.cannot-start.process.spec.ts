import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../src/clock.ts'
import { startLauncher } from '../src/system-world.ts'
import { isAlive } from './alive.ts'
import { parentOf, saidAs, textOf } from './open-launched.ts'
import { type Opened, openProvider, sh, spec } from './open-provider.ts'

const MAIN = fileURLToPath(new URL('../dist/launcher/main.js', import.meta.url))

/** What is started in place of the launcher; all of them, to look after. */
function instead(program: string, args: readonly string[] = []) {
  const started: ChildProcess[] = []
  const startLauncher = (cwd: string): ChildProcess => {
    const child = spawn(program, args, { cwd, stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    started.push(child)
    return child
  }
  return { started, startLauncher }
}

async function expectHostLaunch(opened: Opened, reason: string): Promise<void> {
  expect(opened.runtime.launcher.pid).toBeUndefined()
  expect(await parentOf(opened)).toBe(process.pid)
  const handle = opened.subprocess.spawn(sh('cat; echo err >&2; exit 4', { stdin: { data: 'in' } }))
  expect(await handle.done).toEqual({ exitCode: 4, signal: null })
  expect([textOf(handle), handle.output.stderr?.readFrom(0).text]).toEqual(['in', 'err\n'])
  await expect(opened.subprocess.spawn(spec(['no-such-program-anywhere'])).done).rejects.toMatchObject({
    code: 'SPAWN_FAILED',
    cause: { code: 'ENOENT', syscall: 'spawn no-such-program-anywhere' },
  })
  expect(saidAs(opened, 'warn')).toEqual([expect.stringContaining('commands are started by the host itself')])
  expect(opened.said.find(({ level }) => level === 'warn')?.facts).toMatchObject({ err: { message: expect.stringContaining(reason) } })
}

function place(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cannot-start-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

describe('a launcher that cannot start', () => {
  it('LN-05 is not there: the host starts commands, with the same results, and one warning tells why', async () => {
    await expectHostLaunch(await openProvider({ world: instead('/no/such/launcher') }), 'ENOENT')
  })

  it('LN-05 was left out of a bundle: nothing is started in its place', async () => {
    const startLauncherOfBundle = (cwd: string): ChildProcess => startLauncher(cwd, '/no/such/dist/launcher/main.js')
    await expectHostLaunch(await openProvider({ world: { startLauncher: startLauncherOfBundle } }), "access '/no/such/dist/launcher/main.js'")
  })

  it('LN-05 may not be executed', async () => {
    const file = join(place(), 'launcher')
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 })
    await expectHostLaunch(await openProvider({ world: instead(file) }), 'EACCES')
  })

  it('LN-05 is a directory', async () => {
    await expectHostLaunch(await openProvider({ world: instead(place()) }), 'EACCES')
  })

  it('LN-05 has a program that is not there any more', async () => {
    await expectHostLaunch(await openProvider({ world: instead(process.execPath, ['/no/such/main.js']) }), 'ended with 1 before it had greeted')
  })

  it.each(['EAGAIN', 'ENOMEM', 'EMFILE'])('LN-05 the system refuses it: %s', async (code) => {
    const startLauncher = (): ChildProcess => {
      throw Object.assign(new Error(`spawn ${code}`), { code })
    }
    await expectHostLaunch(await openProvider({ world: { startLauncher } }), code)
  })

  it('LN-05 ends at once, with a status or by a signal', async () => {
    await expectHostLaunch(await openProvider({ world: instead('sh', ['-c', 'exit 9']) }), 'ended with 9 before it had greeted')
    await expectHostLaunch(await openProvider({ world: instead('sh', ['-c', 'kill -9 $$']) }), 'ended with SIGKILL before it had greeted')
  })

  it('LN-05 runs out of memory as it starts', async () => {
    await expectHostLaunch(await openProvider({ world: instead(process.execPath, ['--max-old-space-size=1', MAIN]) }), 'before it had greeted')
  })

  it('LN-05 never greets: nobody waits for it, and it is gone after the time it has', async () => {
    const { started, startLauncher } = instead('sleep', ['600'])
    // Ten seconds are over at once.
    const clock: Clock = { now: systemClock.now, after: (delayMs, call) => systemClock.after(delayMs === 10_000 ? 300 : delayMs, call) }
    const opening = openProvider({ world: { startLauncher, clock } })
    await expectHostLaunch(await opening, 'no greeting within 10000 ms')
    expect(started.map(({ signalCode }) => signalCode)).toEqual(['SIGKILL'])
  })

  it('LN-05 is of another version', async () => {
    const script = `
      let text = ''
      process.stdin.on('data', (chunk) => { text += chunk }).on('end', () => {
        const { socket, token } = JSON.parse(text)
        const body = Buffer.from(JSON.stringify({ type: 'hello', version: 0, token }))
        const header = Buffer.alloc(4)
        header.writeUInt32BE(body.length)
        require('node:net').connect(socket).on('close', () => process.exit(3)).write(Buffer.concat([header, body]))
      })`
    await expectHostLaunch(await openProvider({ world: instead(process.execPath, ['-e', script]) }), 'ended with 3 before it had greeted')
  })

  it('LN-05 has no place for its socket: the path is longer than the system takes, and nothing is made outside of the directory', async () => {
    const parent = place()
    const deep = join(parent, 'd'.repeat(200))
    mkdirSync(deep)
    const opened = await openProvider({ settings: { spillDirectory: deep } })
    await expectHostLaunch(opened, 'set spillDirectory to a shorter path')
    expect(readdirSync(parent)).toEqual(['d'.repeat(200)])
    await opened.close()
    expect(readdirSync(deep)).toEqual([])
  })

  it('LN-05 has a place as long as can be', async () => {
    const parent = place()
    const name = 'd'.repeat(103 - parent.length - '/'.length - '/tenon-XXXXXX/0.sock'.length)
    mkdirSync(join(parent, name))
    const opened = await openProvider({ settings: { spillDirectory: join(parent, name) } })
    expect(await parentOf(opened)).toBe(opened.runtime.launcher.pid)
  })

  it.each(['/no/such/place', '/dev/null'])('LN-05 has no directory: %s is none', async (spillDirectory) => {
    const opened = await openProvider({ settings: { spillDirectory } })
    expect(await parentOf(opened)).toBe(process.pid)
    expect(saidAs(opened, 'warn').filter((message) => message.includes('launcher'))).toHaveLength(1)
  })
})

describe('while the launcher is awaited', () => {
  it('LN-05 commands do not wait for it', async () => {
    const opened = await openProvider({ awaitsLauncher: false })
    expect(await parentOf(opened)).toBe(process.pid)
    await opened.runtime.launcher.idle()
    expect(await parentOf(opened)).toBe(opened.runtime.launcher.pid)
  })

  it('LN-05 LN-11 closing does not wait for the greeting, and leaves neither a process nor a socket nor a warning', async () => {
    const { started, startLauncher } = instead('sleep', ['600'])
    const opened = await openProvider({ world: { startLauncher }, awaitsLauncher: false })
    await expect.poll(() => started.length).toBe(1)
    const before = performance.now()
    await opened.close()
    expect(performance.now() - before).toBeLessThan(1_000)
    expect(isAlive(started[0]?.pid ?? 0)).toBe(false)
    expect(readdirSync(opened.directory)).toEqual([])
    expect(saidAs(opened, 'warn')).toEqual([])
  })

  it('LN-06 LN-11 closing at any moment of the start leaves nothing', async () => {
    for (let waitMs = 0; waitMs < 120; waitMs += 3) {
      const { started, startLauncher } = instead(process.execPath, [MAIN])
      const opened = await openProvider({ world: { startLauncher }, awaitsLauncher: false })
      const until = performance.now() + waitMs
      while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
      await opened.close()
      // What a late run of mkfifo would have made a directory for.
      await new Promise((resolve) => setImmediate(resolve))
      expect([waitMs, started.filter(({ pid }) => isAlive(pid ?? 0)), readdirSync(opened.directory), saidAs(opened, 'warn')]).toEqual([
        waitMs,
        [],
        [],
        [],
      ])
    }
  })
})
