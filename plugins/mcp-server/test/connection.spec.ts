import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { CallToolResult, JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { Emitter, Scope } from '@tenon/kernel'
import type { ToolRequest, ToolResult, Tools, ToolsChange } from '@tenon/tools'
import { expect, it, onTestFinished } from 'vitest'
import { Connection } from '../src/connection.ts'
import { announceTools, serveTools } from '../src/serve-tools.ts'

const notice = (text: string) => ({ source: 'test', text, summary: text })

/** A connection whose one tool answers when the test says so. */
async function connected() {
  const connection = new Connection('test', '/')
  const asked: ToolRequest[] = []
  const answers: ((result?: Partial<ToolResult>) => void)[] = []
  let view: ReturnType<Tools['view']> = { epoch: 1, tools: [] }
  const changed = new Emitter<ToolsChange>()
  const tools = {
    changed,
    view: () => view,
    execute: (request: ToolRequest) =>
      new Promise<ToolResult>((resolve) => {
        asked.push(request)
        answers.push((result = {}) =>
          resolve({
            callId: 'c',
            tool: 'x',
            durationMs: 1,
            content: [{ type: 'text', text: 'done' }],
            isError: false,
            value: null,
            ...result,
          } as ToolResult),
        )
      }),
  } as unknown as Tools
  const server = new Server({ name: 'x', version: '1' }, { capabilities: { tools: { listChanged: true }, logging: {} } })
  let time = 0
  serveTools(server, connection, { tools, reconciling: { pending: () => [], settled: async () => undefined }, now: () => time })
  const scope = new Scope('test')
  announceTools(scope, new Map([['test', connection]]), tools)
  const [near, far] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'test', version: '1' })
  onTestFinished(async () => {
    await client.close()
    await connection.close()
    await scope.close()
  })
  /** What the client gets, as it comes. */
  const got: JSONRPCMessage[] = []
  await connection.open(server, near)
  await client.connect(far)
  const receive = far.onmessage
  far.onmessage = (message, extra) => {
    got.push(message)
    receive?.(message, extra)
  }
  const call = (options = {}): Promise<CallToolResult> => client.callTool({ name: 'x' }, undefined, options) as Promise<CallToolResult>
  const begun = async (count: number): Promise<void> => {
    while (asked.length < count) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    ...{ connection, client, asked, answers, got, near, call, begun },
    change(next: ReturnType<Tools['view']>) {
      view = next
      changed.emit({ epoch: next.epoch, added: [], removed: [], replaced: [] })
    },
    pass(ms: number) {
      time += ms
    },
  }
}

const texts = ({ content }: CallToolResult): readonly string[] => content.map((block) => (block.type === 'text' ? block.text : block.type))

it('CP-14 notices go with the first result that is written, all of them, and with no other', async () => {
  const { answers, begun, call, connection } = await connected()
  const calls = [call(), call()]
  await begun(2)
  expect(connection.session.deliver(notice('one'))).toBe('queued')
  connection.session.deliver(notice('two'))
  answers[1]?.()
  expect(texts(await (calls[1] as Promise<CallToolResult>))).toEqual(['done', 'one', 'two'])
  answers[0]?.({ isError: true, code: 'TOOL_FAILED', message: 'no' } as Partial<ToolResult>)
  expect(texts(await (calls[0] as Promise<CallToolResult>))).toEqual(['done'])
})

it('CP-14 a call that is cancelled takes no notice along, the next result does', async () => {
  const { answers, asked, begun, call, connection } = await connected()
  const cancel = new AbortController()
  const cancelled = call({ signal: cancel.signal })
  await begun(1)
  connection.session.deliver(notice('due'))
  cancel.abort('enough')
  await expect(cancelled).rejects.toThrow('enough')
  while (asked[0]?.signal.aborted !== true) await new Promise((resolve) => setImmediate(resolve))
  answers[0]?.()
  const next = call()
  await begun(2)
  answers[1]?.()
  expect(texts(await next)).toEqual(['done', 'due'])
})

it('CP-14 a result that could not be written gives its notices back', async () => {
  const { connection, near } = await connected()
  connection.session.deliver(notice('due'))
  connection.calls.add(99)
  await near.close()
  await expect(near.send({ jsonrpc: '2.0', id: 99, result: { content: [] } })).rejects.toThrow('Not connected')
  expect(connection.session.notices.drain()).toMatchObject([{ text: 'due' }])
})

it('CP-14 progress has the newest line and grows even when no time has passed', async () => {
  const { answers, asked, begun, call, pass } = await connected()
  const told: unknown[] = []
  const done = call({ onprogress: (progress: unknown) => told.push(progress) })
  await begun(1)
  asked[0]?.onProgress?.('a')
  asked[0]?.onProgress?.('b')
  pass(1_500)
  asked[0]?.onProgress?.('c')
  answers[0]?.()
  await done
  expect(told).toEqual([
    { progress: 0.001, message: 'a' },
    { progress: 0.002, message: 'b' },
    { progress: 1.5, message: 'c' },
  ])
  const quiet = call()
  await begun(2)
  expect(asked[1]).not.toHaveProperty('onProgress')
  answers[1]?.()
  await quiet
})

it('CP-14 a change is announced once, and not to who has listed it already', async () => {
  const { change, client, got } = await connected()
  await client.listTools()
  const next = { epoch: 2, tools: [] }
  change(next)
  change(next)
  await client.ping()
  const announced = (): number => got.filter((message) => 'method' in message && message.method === 'notifications/tools/list_changed').length
  expect(announced()).toBe(1)
  change({ epoch: 3, tools: [] })
  await client.ping()
  expect(announced()).toBe(2)
})

it('CP-14 closing ends the session once, whoever asks', async () => {
  const { client, connection } = await connected()
  const ended: string[] = []
  connection.session.scope.defer(() => void ended.push('session'))
  await client.close()
  await Promise.all([connection.close(), connection.close()])
  expect(ended).toEqual(['session'])
  expect(connection.session.scope.closed).toBe(true)
})
