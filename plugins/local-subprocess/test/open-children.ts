import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { onTestFinished } from 'vitest'
import type { StartedProcess, StdinEnd } from '../src/launch/launch-plan.ts'
import { type LauncherMessage, PROTOCOL_VERSION } from '../src/launch/messages.ts'
import { Children } from '../src/launcher/children.ts'

/** The children of a launcher without its process, and a FIFO for one of them that somebody reads. */
export function openChildren() {
  const directory = mkdtempSync(join(tmpdir(), 'children-test-'))
  const fifo = join(directory, '0.fifo')
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
    ledger: '',
    token: '',
    nonce: 'n',
    cookieVariable: COOKIE_VARIABLE,
    killWaitMs: 1_000,
    directories: [],
  }
  const written: [id: number, StartedProcess][] = []
  const ledger = { write: (...entry: [number, StartedProcess]) => void written.push(entry) }
  const children = new Children(commission, ledger, (message) => void said.push(message))
  const nothing = { kind: 'null' } as const
  /** Its output goes to the FIFO, which is claimed, unless it is to go nowhere. */
  const spawn = (id: number, script: string, { claim = fifo, stdin = nothing as StdinEnd, isSilent = false } = {}): void => {
    children.spawn({
      type: 'spawn',
      id,
      plan: {
        argv: ['sh', '-c', script],
        cwd: '/',
        env: { PATH: process.env.PATH ?? '' },
        stdin,
        stdout: isSilent ? nothing : { kind: 'fifo', path: fifo },
        stderr: nothing,
      },
      ...(!isSilent && { claim }),
      cookie: `n.${id}`,
      graceMs: 1_000,
    })
    children.flush()
  }
  return { children, directory, fifo, said, spawn, written }
}
