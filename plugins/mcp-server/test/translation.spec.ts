import { PassThrough, Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { callResult } from '../src/call-result.ts'
import { McpServerConfig } from '../src/config.ts'
import { divert } from '../src/divert.ts'
import { sayPlainly } from '../src/error-words.ts'
import { jobOf, outputUri } from '../src/job-resource.ts'
import { describeTool } from '../src/tool-description.ts'

const call = { callId: 'call-1', tool: 'x', durationMs: 1 }
const object = { type: 'object', properties: {} }

it.each([
  [object, { type: 'object', properties: {} }],
  [{ anyOf: [object, object] }, { type: 'object', anyOf: [object, object] }],
  [{ oneOf: [object, { anyOf: [object] }] }, { type: 'object', oneOf: [object, { anyOf: [object] }] }],
  [{ allOf: [object, { required: ['x'] }] }, { type: 'object', allOf: [object, { required: ['x'] }] }],
  [{ type: 'string' }, undefined],
  [{ anyOf: [object, { type: 'null' }] }, undefined],
  [{ anyOf: [] }, undefined],
  [{}, undefined],
])('CP-14 an output schema is published if every value is an object: %j', (outputSchema, published) => {
  const tool = describeTool({ name: 'x', description: 'y', inputSchema: {}, outputSchema })
  expect(tool.outputSchema).toEqual(published)
  expect(tool.inputSchema).toEqual({ type: 'object' })
})

it('CP-14 annotations have the names of the protocol, and only those that are given', () => {
  const view = { name: 'x', description: 'y', inputSchema: object }
  expect(describeTool({ ...view, annotations: { title: 'X', readOnly: true, destructive: false, idempotent: true } }).annotations).toEqual({
    title: 'X',
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
  })
  expect(describeTool({ ...view, annotations: { readOnly: false } }).annotations).toEqual({ readOnlyHint: false })
  expect(describeTool(view)).not.toHaveProperty('annotations')
})

it('CP-14 a result has content of each kind, and a structured value if it is an object', () => {
  const content = [
    { type: 'text', text: 'a' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
    { type: 'link', uri: 'file:///a', title: 'A' },
    { type: 'link', uri: 'file:///b' },
  ] as const
  expect(callResult({ ...call, content, isError: false, value: { n: 1 } })).toEqual({
    content: [
      content[0],
      content[1],
      { type: 'resource_link', uri: 'file:///a', name: 'A' },
      { type: 'resource_link', uri: 'file:///b', name: 'file:///b' },
    ],
    structuredContent: { n: 1 },
  })
  for (const value of ['text', 1, null, [1], true]) {
    expect(callResult({ ...call, content: [], isError: false, value })).toEqual({ content: [] })
  }
  const failed = { ...call, content: [content[0]], isError: true, code: 'TOOL_DENIED', message: 'no', details: { secret: 1 } } as const
  expect(callResult(failed)).toEqual({ content: [content[0]], isError: true, _meta: { 'tenon/code': 'TOOL_DENIED' } })
})

it('CP-13 a diverted stream is written by its owner alone, and is itself again afterwards', () => {
  const [from, to] = [new PassThrough(), new PassThrough()]
  const [outer, inner] = [divert(from, to), divert(from, to)]
  from.write('noise')
  Writable.prototype.write.call(from, 'protocol', 'utf8')
  expect([String(from.read()), String(to.read())]).toEqual(['protocol', 'noise'])
  inner()
  from.write('more noise')
  expect(String(to.read())).toBe('more noise')
  outer()
  expect(Object.hasOwn(from, 'write')).toBe(false)
})

it('CP-14 the URI of an output names its job', () => {
  expect(jobOf(outputUri('bash-1'))).toBe('bash-1')
  expect(jobOf(outputUri('../a b'))).toBe('../a b')
  for (const uri of ['tenon://jobs', 'tenon://jobs//output', 'tenon://jobs/a/b/output', 'tenon://jobs/%zz/output', 'http://jobs/a/output']) {
    expect(jobOf(uri)).toBeUndefined()
  }
})

it.each([
  [{ transport: 'pipe' }, 'transport'],
  [{ cwd: 'relative' }, 'cwd'],
  [{ jobs: 'all' }, 'jobs'],
  [{ port: 65_536 }, 'port'],
  [{ port: '1' }, 'port'],
  [{ token: 'short' }, 'token'],
  [{ maxMessageBytes: 1 }, 'maxMessageBytes'],
  [{ drainMs: -1 }, 'drainMs'],
  // The kernel waits ten seconds for one undo.
  [{ drainMs: 9_001 }, 'drainMs'],
  [{ idleMs: 1.5 }, 'idleMs'],
  [{ maxSessions: 0 }, 'maxSessions'],
])('CP-14 a config that cannot be is refused by the name of its option: %j', (config, option) => {
  expect(McpServerConfig.safeParse(config).error?.issues.map(({ path }) => path[0])).toEqual([option])
})

it('CP-14 parameters that do not fit are Invalid params; what failed inside stays an internal error', () => {
  const failed = (message: string) => ({ jsonrpc: '2.0' as const, id: 1, error: { code: -32_603, message } })
  const issues = [{ code: 'invalid_type', expected: 'string', path: ['params', 'uri'], message: 'expected string, received number' }]
  expect(sayPlainly(failed(JSON.stringify(issues)))).toEqual({
    ...failed(''),
    error: { code: -32_602, message: 'Invalid params: params.uri: expected string, received number' },
  })
  const called = failed(`MCP error -32602: Invalid tools/call request: ${JSON.stringify(issues)}`)
  expect(sayPlainly(called)).toMatchObject({ error: { code: -32_602, message: 'Invalid params: params.uri: expected string, received number' } })
  expect(sayPlainly(failed('MCP error -32002: Resource not found: x'))).toEqual(failed('Resource not found: x'))
  for (const message of ['no', '[', '[]', '[1]']) expect(sayPlainly(failed(message))).toEqual(failed(message))
})
