import { CodedError } from '@tenon/kernel'
import { ToolError, type ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openTools({ maxContentBytes: 256 })
})
afterEach(() => app.kernel.close())

const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : `ok: ${JSON.stringify(result.value)}`)

describe('body and output', () => {
  it('TL-24 success: parsed output, rendered content, frozen, with a duration', async () => {
    app.tools.register(
      app.kernel.scope,
      echo('sum', {
        input: z.strictObject({ a: z.coerce.number(), b: z.number().default(2) }),
        output: z.strictObject({ sum: z.number(), unit: z.string().default('none'), gone: z.string().optional() }),
        execute: async (input) => {
          const { a, b } = input as { a: number; b: number }
          return { sum: a + b, gone: undefined }
        },
        render: (value) => [
          { type: 'text', text: JSON.stringify(value) },
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          { type: 'link', uri: 'file:///a', title: 'a' },
        ],
      }),
    )
    const result = await app.call('sum', { a: '40' }, { id: 'my-id' })
    expect(result).toEqual({
      callId: 'my-id',
      tool: 'sum',
      durationMs: expect.any(Number),
      isError: false,
      value: { sum: 42, unit: 'none' },
      content: [
        { type: 'text', text: '{"sum":42,"unit":"none"}' },
        { type: 'image', data: 'AAAA', mimeType: 'image/png' },
        { type: 'link', uri: 'file:///a', title: 'a' },
      ],
    })
    expect(Number.isInteger(result.durationMs)).toBe(true)
    for (const part of [result, result.content, result.content[0], (result as { value: unknown }).value]) expect(Object.isFrozen(part)).toBe(true)
  })

  it('TL-24 progress is there only if asked for, and ignored after the end; a listener that throws harms nobody', async () => {
    const seen: string[] = []
    let say: ((message: string) => void) | undefined
    app.tools.register(
      app.kernel.scope,
      raw('talker', async (_args, call) => {
        say = call.progress
        call.progress?.('one')
        call.progress?.(7 as never)
        call.progress?.('two')
        return null
      }),
    )
    await app.call('talker')
    expect(say).toBeUndefined()
    const onProgress = (message: string) => {
      seen.push(message)
      throw new Error('no')
    }
    expect(await app.call('talker', {}, { onProgress })).toMatchObject({ isError: false })
    say?.('late')
    expect(seen).toEqual(['one', 'two'])
  })

  it('the body is told of its call, and a class keeps its `this`', async () => {
    class Who {
      readonly name = 'who'
      readonly description = 'Who.'
      readonly inputSchema = { type: 'object' }
      readonly me = 'the instance'
      async execute(_args: unknown, call: { id: string; parent?: string; tool: string; session: { id: string } }) {
        return [this.me, call.id, call.parent ?? null, call.tool, call.session.id]
      }
    }
    app.tools.register(app.kernel.scope, new Who())
    expect(told(await app.call('who', {}, { id: 'c', parent: 'p' }))).toBe('ok: ["the instance","c","p","who","test"]')
    expect(told(await app.call('who'))).toMatch(/^ok: \["the instance","call-\d+",null,"who","test"\]$/)
  })

  it('a raw tool without a renderer shows its value as indented JSON', async () => {
    app.tools.register(app.kernel.scope, raw('raw'))
    expect((await app.call('raw', { a: [1] })).content).toEqual([{ type: 'text', text: '{\n  "a": [\n    1\n  ]\n}' }])
  })

  const throwing = () => {
    throw new Error('no')
  }
  it.each<[string, unknown]>([
    ['does not fit', { text: 7 }],
    ['has an unknown key', { text: 'x', more: 1 }],
    ['is nothing', undefined],
    ['has a throwing getter', Object.defineProperty({}, 'text', { enumerable: true, get: throwing })],
  ])('TL-25 a value that %s is an invalid result, which after sees', async (_what, value) => {
    const seen: string[] = []
    app.tools.use(app.kernel.scope, {
      name: 'after',
      after: (_call, result) => {
        seen.push(told(result))
        return undefined
      },
    })
    app.tools.register(app.kernel.scope, echo('echo', { execute: async () => value }))
    const result = await app.call('echo')
    expect(told(result)).toBe('TOOL_OUTPUT: tool "echo" returned an invalid result')
    expect(result).toMatchObject({
      details: { problem: expect.any(String) },
      content: [{ type: 'text', text: 'Error: tool "echo" returned an invalid result' }],
    })
    expect(seen).toEqual([told(result)])
  })

  it.each([[new Map()], [1n], [() => 1], [{ a: Number.NaN }], [[undefined]]])('TL-25 a raw value that is not JSON: %s', async (value) => {
    app.tools.register(
      app.kernel.scope,
      raw('raw', async () => value as never),
    )
    expect(told(await app.call('raw'))).toBe('TOOL_OUTPUT: tool "raw" returned an invalid result')
  })

  it('TL-25 a render that throws is an invalid result', async () => {
    app.tools.register(app.kernel.scope, raw('raw', undefined, { render: throwing }))
    expect(await app.call('raw')).toMatchObject({ code: 'TOOL_OUTPUT', details: { problem: 'no' } })
  })

  const hostile = new Proxy({}, { get: throwing, getPrototypeOf: throwing, has: throwing })
  it.each<[string, unknown, string]>([
    ['an Error', new Error('plain'), 'TOOL_FAILED: plain'],
    ['a blank Error', new TypeError(''), 'TOOL_FAILED: TypeError'],
    ['a coded error', new CodedError('SHELL_MISSING', 'no shell'), 'SHELL_MISSING: no shell'],
    ['a ToolError', new ToolError('TOOL_DENIED', 'no'), 'TOOL_DENIED: no'],
    ["the platform's error", Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' }), 'ENOENT: ENOENT: no such file'],
    ['a code that is a sentence', Object.assign(new Error('odd'), { code: 'Not a code' }), 'TOOL_FAILED: odd'],
    ['an odd code', Object.assign(new Error('odd'), { code: 20 }), 'TOOL_FAILED: odd'],
    ['a string', 'just text', 'TOOL_FAILED: just text'],
    ['a number', 7, 'TOOL_FAILED: 7'],
    ['undefined', undefined, 'TOOL_FAILED: <unprintable thrown value>'],
    ['an object without message', { a: 1 }, 'TOOL_FAILED: <unprintable thrown value>'],
    ['a hostile proxy', hostile, 'TOOL_FAILED: <unprintable thrown value>'],
  ])('TL-26 thrown: %s', async (_what, thrown, expected) => {
    app.tools.register(
      app.kernel.scope,
      raw('late', () => Promise.reject(thrown)),
    )
    app.tools.register(
      app.kernel.scope,
      raw('now', () => {
        throw thrown
      }),
    )
    expect(told(await app.call('late'))).toBe(expected)
    expect(told(await app.call('now'))).toBe(expected)
  })

  it('TL-25 TL-26 wherever it is thrown, what cannot be asked for its prototype is the fault of that step', async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const throwIt = (): never => {
      throw proxy
    }
    const { scope } = app.kernel
    app.tools.register(scope, raw('renders', undefined, { render: throwIt }))
    app.tools.register(scope, echo('refines', { input: z.strictObject({ text: z.string().refine(throwIt) }) as never }))
    app.tools.register(scope, echo('refuses', { refuses: { old: throwIt } }))
    expect(told(await app.call('renders'))).toBe('TOOL_OUTPUT: tool "renders" returned an invalid result')
    for (const [name, args] of [['refines', { text: '' }] as const, ['refuses', { old: 1 }] as const]) {
      expect(await app.call(name, args)).toMatchObject({ isError: true, code: 'TOOL_ARGUMENTS' })
    }
    expect(app.complaints).toEqual([])
  })

  it('TL-26 details are kept if they are JSON, and dropped otherwise', async () => {
    let details: unknown = { left: 3 }
    app.tools.register(
      app.kernel.scope,
      raw('raw', () => Promise.reject(Object.assign(new Error('x'), { code: 'QUOTA', details }))),
    )
    expect(await app.call('raw')).toMatchObject({ code: 'QUOTA', details: { left: 3 } })
    details = { left: 3n }
    expect(await app.call('raw')).not.toHaveProperty('details')
  })

  const marker = '[result truncated]'
  it.each([
    ['x'.repeat(256), 'x'.repeat(256)],
    ['x'.repeat(257), `${'x'.repeat(237)}\n${marker}`],
    ['é'.repeat(200), `${'é'.repeat(118)}\n${marker}`],
    ['🦀'.repeat(100), `${'🦀'.repeat(59)}\n${marker}`],
    [`${'x'.repeat(236)}\n${'y'.repeat(100)}`, `${'x'.repeat(236)}\n${marker}`],
  ])('TL-27 text over the bound is cut on a character with its marker (%#)', async (text, shown) => {
    app.tools.register(app.kernel.scope, echo())
    const result = await app.call('echo', { text })
    expect(result.content).toEqual([{ type: 'text', text: shown }])
    expect(result).toMatchObject({ value: { text } })
  })

  it('TL-27 the bound is that of all blocks together; what is no text stays', async () => {
    const text = (length: number) => ({ type: 'text' as const, text: 'x'.repeat(length) })
    const link = { type: 'link' as const, uri: 'a' }
    app.tools.register(app.kernel.scope, raw('raw', undefined, { render: () => [text(200), link, text(100), link, text(1)] }))
    expect((await app.call('raw')).content).toEqual([text(200), link, { type: 'text', text: `${'x'.repeat(37)}\n${marker}` }, link])
  })

  it('TL-27 an error message over its bound ends with …', async () => {
    app.tools.register(
      app.kernel.scope,
      raw('raw', () => Promise.reject(new Error('é'.repeat(4_000)))),
    )
    const result = await app.call('raw')
    expect(told(result)).toBe(`TOOL_FAILED: ${'é'.repeat(2_046)}…`)
  })

  it('TL-37 started and finished pair for every dispatched call; observers are contained', async () => {
    app.tools.calls.on(app.kernel.scope, () => {
      throw new Error('an observer fails')
    })
    app.tools.calls.on(app.kernel.scope, (() => Promise.reject(new Error('an observer rejects'))) as never)
    app.tools.register(app.kernel.scope, raw('raw'))
    app.tools.register(
      app.kernel.scope,
      raw('broken', () => Promise.reject(new Error('x'))),
    )
    const results = await Promise.all([app.call('raw', {}, { id: 'a' }), app.call('broken', {}, { id: 'b' }), app.call('missing', {}, { id: 'c' })])
    await drained()
    const of = (type: string) => app.events.filter((event) => event.type === type).map(({ call }) => call.id)
    expect(of('started').sort()).toEqual(['a', 'b'])
    expect(of('finished').sort()).toEqual(['a', 'b', 'c'])
    for (const event of app.events) if (event.type === 'finished') expect(results).toContain(event.result)
  })
})
