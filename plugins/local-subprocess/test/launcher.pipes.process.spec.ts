import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { SpawnSpec, SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it } from 'vitest'
import { kill, type OpenedLauncher, openLaunched, stateOf, stop } from './open-launched.ts'
import { sh, spec } from './open-provider.ts'

const PEER = fileURLToPath(new URL('programs/json-rpc-peer.mjs', import.meta.url))
const MESSAGES = 100_000

function outputOf({ stdout }: SubprocessHandle): Readable {
  if (stdout === undefined) throw new Error('no stream')
  return stdout
}

describe('raw streams through the launcher', () => {
  it('LN-10 a JSON-RPC child and its client exchange 100,000 messages each way, in order and byte for byte', async () => {
    const { subprocess } = await openLaunched()
    const child = subprocess.spawn(spec([process.execPath, PEER], { stdin: 'pipe', stdout: 'pipe' }))
    const { stdin } = child
    if (stdin === undefined) throw new Error('no stream')
    const params = (id: number): string => `${'é≤😀"\\\n'.repeat(id % 7)}${id}`
    const sending = (async () => {
      for (let id = 0; id < MESSAGES; id++) {
        const line = `${JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: params(id) })}\n`
        if (!stdin.write(line)) await once(stdin, 'drain')
      }
      stdin.end()
    })()
    let wrong = 0
    let expected = 0
    for await (const line of createInterface({ input: outputOf(child), crlfDelay: Number.POSITIVE_INFINITY })) {
      const { id, result } = JSON.parse(line) as { id: number; result: string }
      if (id !== expected || result !== params(id)) wrong++
      expected++
    }
    await sending
    expect([expected, wrong]).toEqual([MESSAGES, 0])
    expect(await child.done).toEqual({ exitCode: 0, signal: null })
  })

  it('LN-10 half-close: after the end of its input a child goes on to write, and all of it arrives', async () => {
    const { subprocess } = await openLaunched()
    const child = subprocess.spawn(sh('cat >/dev/null; head -c 3000000 /dev/zero; echo end', { stdin: 'pipe', stdout: 'pipe' }))
    child.stdin?.end('x'.repeat(1_000_000))
    const bytes = await buffer(outputOf(child))
    expect([bytes.length, bytes.subarray(-4).toString()]).toEqual([3_000_004, 'end\n'])
    expect(await child.done).toEqual({ exitCode: 0, signal: null })
  })

  it('LN-10 half-close the other way: a child that closes its output goes on to read', async () => {
    const { subprocess } = await openLaunched()
    const child = subprocess.spawn(sh('exec >&-; wc -c >&2', { stdin: 'pipe', stdout: 'pipe' }))
    await buffer(outputOf(child))
    child.stdin?.end('x'.repeat(300_000))
    expect(await child.done).toEqual({ exitCode: 0, signal: null })
    expect(child.output.stderr?.readFrom(0).text.trim()).toBe('300000')
  })

  it('LN-10 a slow reader holds its child back, no memory grows, and every byte comes through in the end', async () => {
    const { subprocess } = await openLaunched()
    const size = 8_000_000
    const child = subprocess.spawn(sh(`yes 0123456789 | head -c ${size}`, { stdout: 'pipe' }))
    const stdout = outputOf(child)
    // All three processes are asleep, with most of it still to be written: what the system and the stream hold is far less.
    await child.started
    await expect.poll(() => child.survivors()).toBe(2)
    await expect.poll(() => [stateOf(child.pid ?? 0), stdout.readableLength]).toEqual(['S', expect.any(Number)])
    expect(stdout.readableLength).toBeLessThan(200_000)
    const hash = createHash('sha256')
    let received = 0
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      received += chunk.length
      hash.update(chunk)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(received).toBe(size)
    expect(hash.digest('hex')).toBe(
      createHash('sha256')
        .update('0123456789\n'.repeat(size / 11 + 1).slice(0, size))
        .digest('hex'),
    )
    expect(await child.done).toEqual({ exitCode: 0, signal: null })
  })

  it('LN-10 what is written before the child is there reaches it', async () => {
    const { subprocess } = await openLaunched()
    const child = subprocess.spawn(sh('cat', { stdin: 'pipe' }))
    expect(child.pid).toBeUndefined()
    child.stdin?.end('early')
    expect(await child.done).toEqual({ exitCode: 0, signal: null })
    expect(child.output.stdout?.readFrom(0).text).toBe('early')
  })

  it('LN-10 the end of a start that fails is the end of its streams', async () => {
    const { subprocess } = await openLaunched()
    const child = subprocess.spawn(spec(['no-such-program-anywhere'], { stdin: 'pipe', stdout: 'pipe' }))
    child.stdin?.on('error', () => undefined)
    child.stdin?.write('to nobody')
    await expect(child.done).rejects.toMatchObject({ code: 'SPAWN_FAILED' })
    expect([child.stdin?.destroyed, child.stdout?.destroyed]).toEqual([true, true])
  })
})

describe('a raw stream that is destroyed before it is known whether its command starts', () => {
  const raw = { stdout: 'pipe', stderr: 'pipe' } as const

  /** Commands whose streams are gone while a launcher that is stopped has not begun them. */
  async function withoutStreams(
    specs: readonly SpawnSpec[],
  ): Promise<{ opened: OpenedLauncher; handles: SubprocessHandle[]; expectNothingLeft(): Promise<void> }> {
    const opened = await openLaunched()
    const { subprocess, runtime } = opened
    await runtime.channels.stock.idle()
    const before = readdirSync('/proc/self/fd').length
    await stop(opened.launcher)
    const handles = specs.map((each) => subprocess.spawn(each))
    const streams = handles.flatMap(({ stdout, stderr }) => [stdout, stderr]).filter((stream) => stream !== undefined)
    await Promise.all(streams.map((stream) => once(stream.destroy(), 'close')))
    const expectNothingLeft = async (): Promise<void> => {
      await runtime.channels.stock.idle()
      await expect.poll(() => [runtime.open.size, runtime.starting.size]).toEqual([0, 0])
      await expect.poll(() => readdirSync('/proc/self/fd').length).toBeLessThanOrEqual(before)
      const names = readdirSync(runtime.pipes.path()).filter((name) => name !== 'owner.json')
      expect(names).toHaveLength(runtime.channels.stock.size)
    }
    return { opened, handles, expectNothingLeft }
  }

  it('LN-10 keeps it from nothing: it starts, and finds its streams closed when it goes on writing', async () => {
    const { opened, handles, expectNothingLeft } = await withoutStreams([
      sh('exit 3', raw),
      sh('exit 4', { stdout: 'pipe' }),
      sh('echo captured; exit 5', { stderr: 'pipe' }),
      spec(['yes'], { stdout: 'pipe' }),
      sh('trap "" PIPE; while echo x; do :; done >&2; exit 6', { stderr: 'pipe' }),
    ])
    process.kill(opened.launcher, 'SIGCONT')
    const facts = await Promise.all(handles.map(({ done }) => done))
    expect(facts).toEqual([
      { exitCode: 3, signal: null },
      { exitCode: 4, signal: null },
      { exitCode: 5, signal: null },
      { exitCode: null, signal: 'SIGPIPE' },
      { exitCode: 6, signal: null },
    ])
    expect(handles[2]?.output.stdout?.readFrom(0).text).toBe('captured\n')
    expect(opened.runtime.launcher.pid).toBe(opened.launcher)
    await expectNothingLeft()
  })

  it('LN-10 is no obstacle at any moment of the start', async () => {
    const { subprocess } = await openLaunched()
    const handles = Array.from({ length: 100 }, (_, index) => {
      const handle = subprocess.spawn(sh(`exit ${index}`, index % 2 === 0 ? raw : { stdout: 'pipe' }))
      const destroy = (): void => void outputOf(handle).destroy()
      if (index % 4 === 0) destroy()
      else if (index % 4 === 1) process.nextTick(destroy)
      else if (index % 4 === 2) setImmediate(destroy)
      else void handle.started.then(destroy)
      handle.stderr?.destroy()
      return handle
    })
    expect(await Promise.all(handles.map(({ done }) => done))).toEqual(handles.map((_, exitCode) => ({ exitCode, signal: null })))
  })

  it('LN-10 LN-07 leaves nothing behind when the start fails, or is called off, or is made by another', async () => {
    const { opened, handles, expectNothingLeft } = await withoutStreams([
      spec(['no-such-program-anywhere'], raw),
      sh('exit 3', raw),
      sh('exit 4', raw),
    ])
    handles[1]?.terminate()
    await expect(handles[1]?.done).rejects.toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
    await kill(opened)
    await expect(handles[0]?.done).rejects.toMatchObject({
      code: 'SPAWN_FAILED',
      cause: { code: 'ENOENT', syscall: 'spawn no-such-program-anywhere' },
    })
    expect(await handles[2]?.done).toEqual({ exitCode: 4, signal: null })
    await opened.runtime.launcher.idle()
    await expectNothingLeft()
  })

  it('LN-10 LN-06 is no obstacle to a close either', async () => {
    const { opened, handles } = await withoutStreams([sh('sleep 600', raw), sh('sleep 600', { stdout: 'pipe' })])
    const closing = opened.close()
    process.kill(opened.launcher, 'SIGCONT')
    await closing
    for (const { done } of handles) await expect(done).rejects.toMatchObject({ code: 'ABORTED_BEFORE_SPAWN' })
    expect([opened.runtime.open.size, readdirSync(opened.directory)]).toEqual([0, []])
  })
})
