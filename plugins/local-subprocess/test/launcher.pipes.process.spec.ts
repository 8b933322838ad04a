import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { SubprocessHandle } from '@tenon/subprocess'
import { describe, expect, it } from 'vitest'
import { openLaunched, stateOf } from './open-launched.ts'
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
