import { execFileSync } from 'node:child_process'
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { expect, it, onTestFinished } from 'vitest'
import { type LauncherMessage, PROTOCOL_VERSION } from '../src/launch/messages.ts'
import { Children } from '../src/launcher/children.ts'

/** The children of a launcher, and a FIFO for one of them that somebody reads. */
function openChildren() {
  const directory = mkdtempSync(join(tmpdir(), 'claims-test-'))
  const [fifo, ran] = [join(directory, '0.fifo'), join(directory, 'ran')]
  execFileSync('mkfifo', [fifo])
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
  onTestFinished(() => {
    closeSync(reader)
    rmSync(directory, { recursive: true })
  })
  const said: LauncherMessage[] = []
  const commission = {
    version: PROTOCOL_VERSION,
    host: process.pid,
    socket: '',
    token: '',
    nonce: 'n',
    cookieVariable: COOKIE_VARIABLE,
    killWaitMs: 1_000,
    directories: [],
  }
  const children = new Children(commission, (message) => void said.push(message))
  const spawn = (id: number, claim: string): void => {
    children.spawn({
      type: 'spawn',
      id,
      plan: {
        argv: ['sh', '-c', `echo ${id} >> ${ran}`],
        cwd: '/',
        env: { PATH: process.env.PATH ?? '' },
        stdin: { kind: 'null' },
        stdout: { kind: 'fifo', path: fifo },
        stderr: { kind: 'null' },
      },
      claim,
      cookie: `n.${id}`,
      graceMs: 1_000,
    })
    children.flush()
  }
  return { fifo, ran, said, spawn, claimFile: join(directory, 'claim') }
}

it('LN-07 a launch that is called off when its ends are open already does not begin, and is answered like any other', async () => {
  const { fifo, ran, said, spawn, claimFile } = openChildren()
  spawn(1, claimFile)
  await expect.poll(() => said).toEqual([{ type: 'revoked', id: 1 }])
  writeFileSync(claimFile, '')
  spawn(2, claimFile)
  await expect.poll(() => said.at(-1)).toEqual({ type: 'exited', id: 2, exitCode: 0, signal: null })
  expect(said.map(({ type }) => type)).toEqual(['revoked', 'started', 'exited'])
  expect([existsSync(claimFile), existsSync(fifo)]).toEqual([false, false])
  expect(execFileSync('cat', [ran], { encoding: 'utf8' })).toBe('2\n')
})

it('LN-07 one whose FIFO has gone fails, and is answered once', async () => {
  const { fifo, said, spawn } = openChildren()
  rmSync(fifo)
  spawn(1, fifo)
  await expect.poll(() => said).toEqual([{ type: 'failed', id: 1, error: expect.objectContaining({ code: 'ENOENT', path: fifo }) }])
})
