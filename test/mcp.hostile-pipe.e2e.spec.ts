import { expect, it } from 'vitest'
import { initialize, type Piped, pipe } from './mcp/piped.ts'

const call = (id: unknown, command: string, meta?: object): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'bash', arguments: { command, description: 'for a test' }, ...(meta !== undefined && { _meta: meta }) },
})
const cancelled = (requestId: unknown): object => ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })

/** After whatever was said, calls are served as ever. */
async function expectServed(server: Piped): Promise<void> {
  const served = server.answers.next(({ id }) => id === 'last')
  server.say(call('last', 'echo served'))
  expect((await served).result).toMatchObject({ content: [{ type: 'text', text: 'served\n' }], structuredContent: { exitCode: 0 } })
}

/** `count` answers of this id, from now on. */
async function answers(server: Piped, wanted: unknown, count: number): Promise<readonly object[]> {
  const from = server.answers.all.length
  const come = (): readonly object[] => server.answers.all.slice(from).filter(({ id }) => id === wanted)
  while (come().length < count) await server.answers.next()
  return come()
}

it('CP-14 before initialize a ping and a call are answered, and initialize is as ever', async () => {
  const server = await pipe()
  expect((await server.request(1, 'ping')).result).toEqual({})
  expect((await server.request(2, 'tools/list')).result).toMatchObject({ tools: expect.any(Array) })
  expect((await initialize(server)).result).toMatchObject({ serverInfo: { name: 'tenon' } })
  await expectServed(server)
})

it('CP-14 initialize twice is answered twice, and loses neither the session nor its jobs', async () => {
  const server = await pipe()
  const first = await initialize(server)
  const started = server.answers.next(({ id }) => id === 1)
  server.say({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'bash', arguments: { command: 'sleep 60', description: 'for a test', run_in_background: true } },
  })
  await started
  expect((await initialize(server)).result).toEqual(first.result)
  expect((await server.request(2, 'tools/call', { name: 'job_list', arguments: {} })).result).toMatchObject({
    content: [{ text: expect.stringMatching(/^bash-1 \[bash\] running/) }],
  })
})

it('CP-14 a batch, an id beyond the safe integers and bytes that are no UTF-8 are refused and run nothing', async () => {
  const server = await pipe()
  await initialize(server)
  const refused = answers(server, null, 3)
  server.say(JSON.stringify([call(1, 'touch batch'), call(2, 'touch batch')]))
  server.say(JSON.stringify(call('HUGE', 'touch huge')).replace('"HUGE"', '123456789012345678901234567890'))
  const [before, after] = JSON.stringify(call(3, 'touch bytes-X')).split('X')
  server.stdin.write(Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xff, 0xfe]), Buffer.from(`${after}\n`)]))
  expect(await refused).toMatchObject([
    { error: { code: -32_600, message: expect.stringContaining('one message per line') } },
    { error: { code: -32_600 } },
    { error: { code: -32_700, message: expect.stringContaining('UTF-8') } },
  ])
  const listed = server.answers.next(({ id }) => id === 4)
  server.say(call(4, 'ls -A'))
  expect((await listed).result).toMatchObject({ structuredContent: { stdout: { text: 'tenon.yaml\n' } } })
})

it('CP-14 an id of a megabyte, an empty one, zero and a negative one come back as they were', async () => {
  const server = await pipe()
  await initialize(server)
  for (const id of ['x'.repeat(1_000_000), '', 0, -1, Number.MAX_SAFE_INTEGER]) {
    const answered = answers(server, id, 1)
    server.say({ jsonrpc: '2.0', id, method: 'ping' })
    expect(await answered).toMatchObject([{ result: {} }])
  }
})

it('CP-14 cancelling what has ended, what never was and what cannot be is nothing', async () => {
  const server = await pipe()
  await initialize(server)
  await server.request(1, 'tools/call', { name: 'bash', arguments: { command: 'true', description: 'for a test' } })
  for (const id of [1, 99, 'nobody', null, { a: 1 }]) server.say(cancelled(id))
  server.say({ jsonrpc: '2.0', method: 'notifications/cancelled' })
  server.say({ jsonrpc: '2.0', method: 'notifications/unheard-of', params: { x: 1 } })
  server.say({ jsonrpc: '2.0', id: 'never asked', result: {} })
  await expectServed(server)
})

it('CP-14 one progress token for two calls at once: both are told of and answered', async () => {
  const server = await pipe()
  await initialize(server)
  const both = Promise.all([answers(server, 1, 1), answers(server, 2, 1)])
  const command = (n: number): string => `echo line ${n}; until test -e go; do sleep 0.02; done`
  const told = (n: number): Promise<unknown> => server.answers.next((message) => JSON.stringify(message).includes(`"message":"line ${n}"`))
  const lines = Promise.all([told(1), told(2)])
  for (const n of [1, 2]) server.say(call(n, command(n), { progressToken: 'again' }))
  expect(await lines).toMatchObject([{ params: { progressToken: 'again' } }, { params: { progressToken: 'again' } }])
  server.say(call(3, 'touch go'))
  expect((await both).flat()).toMatchObject([1, 2].map(() => ({ result: { structuredContent: { exitCode: 0 } } })))
  await expectServed(server)
})

it('CP-14 one id for two calls at once: both run and are answered, also when the pipe is closed meanwhile', async () => {
  const server = await pipe()
  await initialize(server)
  const both = answers(server, 1, 2)
  for (const text of ['one', 'two']) server.say(call(1, `sleep 0.2; echo ${text}`))
  server.stdin.end()
  expect(await server.exit).toBe(0)
  const texts = (await both).map((answer) => JSON.stringify(answer)).toSorted()
  expect(texts).toEqual([expect.stringContaining('one\\n'), expect.stringContaining('two\\n')])
})

it('CP-14 half a line of 64 MB is refused by its size once it ends, and the next message is served', async () => {
  const server = await pipe({ catalog: 'extends: mcp\nplugins:\n  mcp: { with: { maxMessageBytes: 1024 } }\n' })
  await initialize(server)
  const refused = answers(server, null, 1)
  for (let part = 0; part < 64; part++) server.stdin.write('x'.repeat(1_048_576))
  server.say('')
  expect(await refused).toMatchObject([{ error: { code: -32_600, message: expect.stringContaining('this one has 67108864') } }])
  await expectServed(server)
})

it('CP-14 wrong parameters of every method are answered as such', async () => {
  const server = await pipe()
  await initialize(server)
  const methods = ['tools/call', 'tools/list', 'resources/read', 'resources/subscribe', 'resources/unsubscribe', 'logging/setLevel', 'initialize']
  for (const [at, method] of methods.entries()) {
    const { error } = await server.request(100 + at, method, { name: 7, uri: 7, level: 'loud', cursor: 7 })
    expect([method, error?.code, error?.message]).toEqual([method, -32_602, expect.stringMatching(/^Invalid params: params\S*: /)])
  }
  await expectServed(server)
})
