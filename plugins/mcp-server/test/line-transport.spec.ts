import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { expect, it, onTestFinished, vi } from 'vitest'
import { LineTransport } from '../src/line-transport.ts'

interface Limits {
  readonly maxMessageBytes?: number
  readonly drainMs?: number
}

async function opened(limits: Limits = {}) {
  const made = unopened(limits)
  await made.transport.start()
  return made
}

/** Of a transport that has not started. */
function unopened(limits: Limits) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const transport = new LineTransport(input, output, { maxMessageBytes: 1_024, drainMs: 60_000, ...limits })
  const got: JSONRPCMessage[] = []
  const faults: Error[] = []
  transport.onmessage = (message) => void got.push(message)
  transport.onerror = (error) => void faults.push(error)
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve
  })
  onTestFinished(() => transport.close())
  const answers = (): unknown[] =>
    String(output.read() ?? '')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as unknown)
  /** The next ones, as soon as they are there. */
  const take = async (count: number): Promise<unknown[]> => {
    const taken: unknown[] = []
    while (taken.length < count) {
      taken.push(...answers())
      await new Promise((resolve) => setImmediate(resolve))
    }
    return taken
  }
  const feed = async (...chunks: readonly (string | Buffer)[]): Promise<void> => {
    for (const chunk of chunks) {
      input.write(chunk)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { input, output, transport, got, faults, closed, answers, take, feed }
}

/** Room for so many pings that wait: a line takes more than its bytes. */
const room = (count: number): number => count * (ping(1).length + 128)

const ping = (id: number | string): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })

it('CP-14 messages arrive whole, however the stream is cut: inside a character, several at once, with CR and blank lines between', async () => {
  const { feed, got } = await opened()
  const bytes = Buffer.from(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'žluť' } })}\r\n\n  \n${ping(2)}\n${ping('x')}\n`,
  )
  await feed(...[...bytes].map((byte) => Buffer.from([byte])))
  expect(got).toMatchObject([{ id: 1, params: { text: 'žluť' } }, { id: 2 }, { id: 'x' }])
})

it.each([
  ['{"half', -32_700, null],
  ['42', -32_600, null],
  ['[]', -32_600, null],
  ['null', -32_600, null],
  ['{"jsonrpc":"1.0","id":5,"method":"ping"}', -32_600, 5],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32_600, null],
  ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}', -32_600, null],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]', -32_600, null],
  ['{"jsonrpc":"2.0","id":"a"}', -32_600, 'a'],
])('CP-14 %s is answered as the protocol says, and what follows is served', async (line, code, id) => {
  const { answers, faults, feed, got } = await opened()
  await feed(`${line}\n${ping(1)}\n`)
  expect(answers()).toMatchObject([{ jsonrpc: '2.0', id, error: { code } }])
  expect(faults).toHaveLength(1)
  expect(got).toMatchObject([{ id: 1 }])
})

it('CP-14 a line that is not UTF-8 is refused: with replacement characters it would be another one', async () => {
  const { answers, feed, got } = await opened()
  const [before = '', after = ''] = ping('FILE').split('FILE')
  await feed(Buffer.concat([Buffer.from(before), Buffer.from([0x66, 0xfc]), Buffer.from(`${after}\n${ping(1)}\n`)]))
  expect(answers()).toMatchObject([{ id: null, error: { code: -32_700, message: 'Parse error: the line is not UTF-8' } }])
  expect(got).toMatchObject([{ id: 1 }])
})

it('CP-14 when the input ends, two requests with one id are waited for both', async () => {
  const { closed, feed, input, transport } = await opened()
  await feed(`${ping(1)}\n${ping(1)}\n`)
  input.end()
  await once(input, 'end')
  let isClosed = false
  const done = closed.then(() => {
    isClosed = true
  })
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
  expect(isClosed).toBe(false)
  await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
  await done
})

it('CP-14 a line over the bound is refused by its size, in one piece or many; one at the bound is not', async () => {
  const { answers, feed, got, transport } = await opened({ maxMessageBytes: ping(1).length })
  await feed('x'.repeat(100), 'y'.repeat(5), `z\n${ping(1)}\n`)
  expect(answers()).toMatchObject([{ id: null, error: { code: -32_600, message: expect.stringContaining('this one has 106') } }])
  expect(got).toHaveLength(1)
  transport.limits = { maxMessageBytes: 10, drainMs: 60_000 }
  await feed(`${ping(1)}\n`)
  expect(answers()).toHaveLength(1)
})

it('CP-14 while it is paused messages wait', async () => {
  const { feed, got, transport } = await opened()
  transport.pause()
  await feed(`${ping(1)}\n`)
  expect(got).toEqual([])
  transport.resume()
  await feed(`${ping(2)}\n`)
  expect(got).toMatchObject([{ id: 1 }, { id: 2 }])
})

it('CP-14 what waits is bounded: a request beyond is refused, and the next one after the pause is served', async () => {
  const { answers, feed, got, transport } = await opened({ maxMessageBytes: room(2) })
  transport.pause()
  await feed(`${ping(1)}\n${ping(2)}\n${ping(3)}\n`)
  expect(answers()).toMatchObject([{ id: 3, error: { code: -32_603, message: expect.stringContaining('send this again') } }])
  transport.resume()
  await feed(`${ping(4)}\n`)
  expect(got).toMatchObject([{ id: 1 }, { id: 2 }, { id: 4 }])
})

it('CP-14 while it is paused the end of the input is noticed: at once if nothing is open, else after its time', async () => {
  const empty = await opened()
  empty.transport.pause()
  empty.input.end()
  await empty.closed
  const asked = await opened({ drainMs: 1 })
  asked.transport.pause()
  await asked.feed(`${ping(1)}\n`)
  asked.input.end()
  await asked.closed
  expect(asked.got).toEqual([])
})

it('CP-14 an input that ends before anybody listens is served when somebody does, all of it', async () => {
  const { closed, got, input, transport } = unopened({})
  transport.onmessage = (message) => {
    got.push(message)
    if ('id' in message) void transport.send({ jsonrpc: '2.0', id: message.id as number, result: {} })
  }
  transport.listen()
  input.end(`${ping(1)}\n${ping(2)}\n`)
  await once(input, 'close')
  expect(got).toEqual([])
  await transport.start()
  await closed
  expect(got).toMatchObject([{ id: 1 }, { id: 2 }])
})

it('CP-14 when the input ends it closes with the last answer, and counts none that was cancelled', async () => {
  const { closed, feed, got, input, transport } = await opened()
  await feed(`${ping(1)}\n${ping(2)}\n`, JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }))
  input.end()
  await once(input, 'end')
  expect(got).toHaveLength(3)
  await transport.send({ jsonrpc: '2.0', id: 2, result: {} })
  await closed
})

it('CP-14 when the input ends and nobody answers it closes after its time; at once if nothing is open, or the output is lost', async () => {
  const slow = await opened({ drainMs: 1 })
  await slow.feed(`${ping(1)}\n`)
  slow.input.end()
  await slow.closed
  const empty = await opened()
  empty.input.end()
  await empty.closed
  const lost = await opened()
  lost.output.destroy(new Error('nobody reads'))
  await lost.closed
  expect(lost.faults).toMatchObject([{ message: 'nobody reads' }])
  // Who answers late is not told off.
  await lost.transport.send({ jsonrpc: '2.0', id: 1, result: {} })
})

/** More than the stream between takes without being read. */
const long = (id: number): JSONRPCMessage => ({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(100_000) } })

it('CP-14 a client gets all answers, however many are written in one turn, and however late it reads', async () => {
  const { faults, feed, got, take, transport } = await opened()
  const written = Promise.all(Array.from({ length: 100 }, (_, id) => transport.send(long(id))))
  expect(await take(100)).toMatchObject(Array.from({ length: 100 }, (_, id) => ({ id })))
  await written
  expect(faults).toEqual([])
  await feed(`${ping(1)}\n`)
  expect(got).toMatchObject([{ id: 1 }])
})

it('CP-14 what a client asks that has not read waits until it has, and is not read on beyond the bound', async () => {
  const { feed, got, input, take, transport } = await opened({ maxMessageBytes: room(2) })
  void transport.send(long(0))
  await feed(`${ping(1)}\n${ping(2)}\n`)
  expect([got, input.isPaused()]).toEqual([[], false])
  await feed(`${ping(3)}\n`)
  expect([got, input.isPaused()]).toEqual([[], true])
  await feed(`${ping(4)}\n`)
  expect(await take(1)).toMatchObject([{ id: 0 }])
  await feed(`${ping(5)}\n`)
  expect(got).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }])
  expect(input.isPaused()).toBe(false)
})

it('CP-14 a client that is behind is told of a change once, of progress not at all, and of a notice each time, when it has caught up', async () => {
  const { take, transport } = await opened()
  void transport.send(long(0))
  const updated = (uri: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri } })
  const told = (data: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'notice', data } })
  for (const uri of ['a', 'b', 'a', 'a']) await transport.send(updated(uri))
  await transport.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })
  const notices = Promise.all(['one', 'one'].map((data) => transport.send(told(data))))
  expect((await take(5)).slice(1)).toEqual([told('one'), told('one'), updated('a'), updated('b')])
  await notices
  void transport.send(updated('a'))
  expect(await take(1)).toEqual([updated('a')])
})

it('CP-14 a client that is behind and goes away is noticed; one that only says no more is answered when it has read', async () => {
  const gone = await opened()
  void gone.transport.send(long(0)).catch(() => undefined)
  gone.output.destroy(new Error('nobody reads'))
  await gone.closed
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = await opened({ drainMs: 1_000 })
  ended.transport.onmessage = (message) => {
    if ('id' in message) void ended.transport.send({ jsonrpc: '2.0', id: message.id as number, result: {} })
  }
  void ended.transport.send(long(0))
  await ended.feed(`${ping(1)}\n`)
  ended.input.end(ping(2))
  await once(ended.input, 'end')
  vi.advanceTimersByTime(60_000)
  expect(await ended.take(3)).toMatchObject([{ id: 0 }, { id: 1 }, { id: 2 }])
  await ended.closed
})

it('CP-14 many requests at once are served in portions: what has become too much to read stops the rest', async () => {
  const { answers, feed, take, transport } = await opened()
  transport.onmessage = (message) => {
    if ('id' in message) void transport.send(long(message.id as number))
  }
  await feed(Array.from({ length: 1_000 }, (_, id) => `${ping(id)}\n`).join(''))
  await new Promise((resolve) => setImmediate(resolve))
  const first = answers()
  expect(first.length).toBeLessThanOrEqual(16)
  expect((await take(1_000 - first.length)).at(-1)).toMatchObject({ id: 999 })
})

it('CP-14 broken lines of a client that is behind wait as messages do, within the bound, and are answered in their order', async () => {
  const { feed, input, take, transport } = await opened({ maxMessageBytes: room(2) })
  void transport.send(long(0))
  await feed('x\n'.repeat(1_000))
  expect(input.isPaused()).toBe(true)
  const answers = await take(1_001)
  expect(answers.slice(1)).toMatchObject(Array.from({ length: 1_000 }, () => ({ id: null, error: { code: -32_700 } })))
  expect(input.isPaused()).toBe(false)
})

it('CP-14 a cancellation waits for nothing: it reaches a call that runs, and takes back one that still waits', async () => {
  const { feed, got, take, transport } = await opened()
  await feed(`${ping(1)}\n`)
  void transport.send(long(0))
  const cancelled = (requestId: number): string => JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  await feed(`${ping(2)}\n${ping(3)}\n${cancelled(1)}\n${cancelled(2)}\n`)
  expect(got).toMatchObject([{ id: 1 }, { method: 'notifications/cancelled', params: { requestId: 1 } }])
  await take(1)
  await feed(`${ping(4)}\n`)
  expect(got.slice(2)).toMatchObject([{ id: 3 }, { id: 4 }])
})

it('CP-14 a client that has caught up while the server is being changed is read again: that it goes is noticed', async () => {
  const { closed, feed, got, input, take, transport } = await opened({ maxMessageBytes: room(2), drainMs: 1 })
  void transport.send(long(0))
  await feed(`${ping(1)}\n${ping(2)}\n${ping(3)}\n`)
  expect(input.isPaused()).toBe(true)
  transport.pause()
  await take(1)
  await feed(`${ping(4)}\n`)
  expect(await take(1)).toMatchObject([{ id: 4, error: { code: -32_603, message: expect.stringContaining('send this again') } }])
  input.end()
  await closed
  expect(got).toEqual([])
})
