import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { encodeFrame, FrameReader } from '../src/launch/frames.ts'
import { type Commission, PROTOCOL_VERSION } from '../src/launch/messages.ts'
import { Reception } from '../src/launch/reception.ts'
import { isAlive } from './alive.ts'
import { openLaunched } from './open-launched.ts'
import { sh } from './open-provider.ts'

const MAIN = fileURLToPath(new URL('../dist/launcher/main.js', import.meta.url))
const TOKEN = 'f'.repeat(32)

async function open() {
  const directory = mkdtempSync(join(tmpdir(), 'reception-test-'))
  const reception = await Reception.open(directory, '0.sock', TOKEN)
  const path = join(directory, '0.sock')
  const visitors: Socket[] = []
  onTestFinished(() => {
    reception.close()
    for (const visitor of visitors) visitor.destroy()
    rmSync(directory, { recursive: true, force: true })
  })
  const visit = async (): Promise<Socket> => {
    const visitor = createConnection(path)
    visitor.on('error', () => undefined)
    visitors.push(visitor)
    await once(visitor, 'connect')
    return visitor
  }
  return { reception, path, visit }
}

function framed(message: object): Buffer {
  const frame = encodeFrame(message)
  if (frame === undefined) throw new Error('too large')
  return frame
}

function hello(change: object = {}): Buffer {
  return framed({ type: 'hello', version: PROTOCOL_VERSION, token: TOKEN, ...change })
}

/** For a launcher in whose directory `its.sock` is. */
function commissionFor(change: Partial<Commission>): Commission {
  const own = { host: process.pid, nonce: 'n', cookieVariable: 'COOKIE_OF_A_TEST', killWaitMs: 1_000, directories: [] }
  return { version: PROTOCOL_VERSION, socket: 'its.sock', ledger: 'its.starts', token: TOKEN, ...own, ...change }
}

async function shownOut(visitor: Socket): Promise<void> {
  visitor.resume()
  // Not `once` of node:events, which takes a connection that is reset for a failure.
  if (!visitor.closed) await new Promise((resolve) => visitor.once('close', resolve))
}

async function expectWelcome({ reception, visit }: Awaited<ReturnType<typeof open>>): Promise<void> {
  const launcher = await visit()
  launcher.write(hello())
  const { socket, greeting } = await reception.guest
  expect(greeting).toEqual({ type: 'hello', version: PROTOCOL_VERSION, token: TOKEN })
  socket.write('welcome')
  const [said] = (await once(launcher, 'data')) as [Buffer]
  expect(said.toString()).toBe('welcome')
  socket.destroy()
}

describe('the socket of the host', () => {
  it('LN-09 is for its user alone, whatever the umask, and is gone once the launcher is in', async () => {
    const umask = process.umask(0)
    const opened = await open().finally(() => process.umask(umask))
    expect(statSync(opened.path).mode & 0o777).toBe(0o600)
    await expectWelcome(opened)
    expect(existsSync(opened.path)).toBe(false)
  })

  it.each([
    ['garbage', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a frame that is too large', Buffer.from([0, 0, 4, 1])],
    ['a frame that is no JSON', Buffer.from([0, 0, 0, 2, 0x7b, 0x7b])],
    ['no token', hello({ token: undefined })],
    ['the token of another', hello({ token: 'e'.repeat(32) })],
    ['a part of the token', hello({ token: TOKEN.slice(1) })],
    ['a token that is no text', hello({ token: [TOKEN] })],
    ['another version', hello({ version: PROTOCOL_VERSION + 1 })],
    ['something else than a greeting', framed({ type: 'spawn', token: TOKEN, version: PROTOCOL_VERSION })],
    ['null', Buffer.from([0, 0, 0, 4, ...Buffer.from('null')])],
    ['more than a greeting', Buffer.concat([hello(), framed({ type: 'pong' })])],
  ])('LN-09 shows out whoever brings %s, and lets the launcher in afterwards', async (_, brought) => {
    const opened = await open()
    const visitor = await opened.visit()
    visitor.write(brought)
    await shownOut(visitor)
    await expectWelcome(opened)
  })

  it('LN-09 half a greeting, silence, and a greeting in single bytes: each is a matter of its own connection', async () => {
    const opened = await open()
    const half = await opened.visit()
    half.write(hello().subarray(0, 20))
    const silent = await opened.visit()
    const leaving = await opened.visit()
    leaving.end(hello().subarray(0, 3))
    const slow = await opened.visit()
    for (const byte of hello()) {
      slow.write(Buffer.from([byte]))
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect((await opened.reception.guest).greeting.token).toBe(TOKEN)
    // There is nothing more to be had for them.
    await Promise.all([half, silent, leaving].map(shownOut))
  })

  it('LN-09 a hundred visitors that flood it at once are shown out, and the host does not keep what they bring', async () => {
    const opened = await open()
    const before = process.memoryUsage().rss
    const flood = Buffer.alloc(4 * 1_024 ** 2, '{')
    const visitors = await Promise.all(Array.from({ length: 100 }, () => opened.visit()))
    for (const visitor of visitors) visitor.write(flood)
    await Promise.all(visitors.map(shownOut))
    await expectWelcome(opened)
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1_024 ** 2)
  })

  it('LN-09 lets nobody in a second time', async () => {
    const opened = await open()
    const [first, second] = [await opened.visit(), await opened.visit()]
    first.write(hello())
    await opened.reception.guest
    second.write(hello())
    await shownOut(second)
    await expect(opened.visit()).rejects.toMatchObject({ code: expect.stringMatching(/ENOENT|ECONNREFUSED/) })
    expect(first.destroyed).toBe(false)
    first.destroy()
  })

  it('LN-09 while a provider works there is no socket to knock at', async () => {
    const { runtime, subprocess } = await openLaunched()
    expect(await subprocess.spawn(sh('true')).done).toEqual({ exitCode: 0, signal: null })
    expect(readdirSync(runtime.directory.path()).filter((name) => name.endsWith('.sock'))).toEqual([])
  })
})

describe('a launcher', () => {
  it('LN-03 LN-09 that meets what it cannot understand tells where it stopped, and ends', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reception-test-'))
    const said: Buffer[] = []
    const server = createServer((socket) => {
      socket.on('data', (chunk) => said.push(chunk))
      socket.write(framed({ type: 'hooray' }))
    }).listen(join(directory, 'its.sock'))
    await once(server, 'listening')
    onTestFinished(() => {
      server.close()
      rmSync(directory, { recursive: true, force: true })
    })
    const launcher = spawn(process.execPath, [MAIN], { cwd: directory, stdio: ['pipe', 'ignore', 'inherit'] })
    launcher.stdin.end(JSON.stringify(commissionFor({ directories: [] })))
    expect(await once(launcher, 'exit')).toEqual([1, null])
    const [, crash] = new FrameReader().push(Buffer.concat(said))
    expect(crash).toEqual({ type: 'crashed', stack: expect.stringMatching(/not of the protocol\n +at hostMessage/) })
  })
})

describe('a launcher that is not let in', () => {
  /** A launcher, told to look after a directory and a command, whose connection ends before a word was said to it. */
  async function turnAway(host: number) {
    const directory = mkdtempSync(join(tmpdir(), 'reception-test-'))
    const server = createServer((socket) => socket.destroy()).listen(join(directory, 'its.sock'))
    await once(server, 'listening')
    const [nonce, cookieVariable] = [randomUUID(), 'COOKIE_OF_A_TEST']
    const command = spawn('sleep', ['600'], { env: { [cookieVariable]: `${nonce}.0` }, detached: true, stdio: 'ignore' })
    onTestFinished(() => {
      server.close()
      command.kill('SIGKILL')
      rmSync(directory, { recursive: true, force: true })
    })
    const launcher = spawn(process.execPath, [MAIN], { cwd: directory, stdio: ['pipe', 'ignore', 'inherit'] })
    launcher.stdin.end(JSON.stringify(commissionFor({ host, nonce, cookieVariable, directories: [directory] })))
    const [exitCode] = (await once(launcher, 'exit')) as [number]
    return { exitCode, directory: existsSync(directory), command: isAlive(command.pid ?? 0) }
  }

  it('LN-09 leaves a host that lives what it has', async () => {
    expect(await turnAway(process.pid)).toEqual({ exitCode: 1, directory: true, command: true })
  })

  it('LN-02 LN-09 ends what a host has left that is gone by then', async () => {
    const gone = spawn('true')
    await once(gone, 'exit')
    expect(await turnAway(gone.pid ?? 0)).toEqual({ exitCode: 0, directory: false, command: false })
  })
})
