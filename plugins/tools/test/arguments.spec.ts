import { runInNewContext } from 'node:vm'
import type { JsonObject } from '@tenon/kernel'
import type { ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
let got: JsonObject[] = []
let policyRan = 0
beforeEach(async () => {
  app = await openTools({ maxArgumentBytes: 1_000 })
  got = []
  policyRan = 0
  app.tools.register(
    app.kernel.scope,
    raw('raw', async (args) => {
      got.push(args)
      return null
    }),
  )
  app.tools.use(app.kernel.scope, {
    name: 'watcher',
    before: () => {
      policyRan++
      return { decision: 'allow' }
    },
  })
})
afterEach(() => app.kernel.close())

const messageOf = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : 'no error')

describe('the snapshot of the arguments', () => {
  it("TL-11 is read once and deep-frozen; the caller's object stays as it was", async () => {
    let reads = 0
    const nested = { list: [1, { deep: true }] }
    const mine = {
      nested,
      get text() {
        return `read ${++reads}`
      },
    }
    await app.call('raw', mine)
    expect(reads).toBe(1)
    expect(got).toEqual([{ nested: { list: [1, { deep: true }] }, text: 'read 1' }])
    const walk = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return
      expect(Object.isFrozen(value)).toBe(true)
      Object.values(value).forEach(walk)
    }
    walk(got[0])
    expect(Object.isFrozen(mine)).toBe(false)
    expect(Object.isFrozen(nested.list)).toBe(false)
  })

  it('TL-11 the call sees what was sent, whatever the caller changes afterwards', async () => {
    const mine = { text: 'before' }
    const running = app.call('raw', mine)
    mine.text = 'after'
    await running
    expect(got).toEqual([{ text: 'before' }])
  })

  class Instance {
    field = 1
  }
  const cyclic: Record<string, unknown> = {}
  cyclic.a = { b: cyclic }
  const nest = (depth: number): unknown => (depth === 0 ? 1 : { d: nest(depth - 1) })

  it.each<[string, unknown]>([
    ['a is undefined', { a: undefined }],
    ['a.b[1] is undefined', { a: { b: [1, undefined] } }],
    ['a is a bigint', { a: 1n }],
    ['a is NaN', { a: Number.NaN }],
    ['a is -Infinity', { a: Number.NEGATIVE_INFINITY }],
    ['a is a symbol', { a: Symbol('s') }],
    ['a is a function', { a: () => 1 }],
    ['a.b contains itself', cyclic],
    ['a[1] is undefined', { a: Object.assign(new Array(3), { 0: 1, 2: 3 }) }],
    ['a is an instance of Map', { a: new Map() }],
    ['a is an instance of Date', { a: new Date(0) }],
    ['["odd key"] is an instance of Instance', { 'odd key': new Instance() }],
    ['arguments is an instance of Instance', new Instance()],
    [
      'a cannot be read',
      {
        get a() {
          throw new Error('no')
        },
      },
    ],
    [
      'arguments cannot be read',
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no')
          },
        },
      ),
    ],
    ['it is larger than 1000 bytes', { a: 'x'.repeat(1_000) }],
    ['it is larger than 1000 bytes', { a: 'é'.repeat(500) }],
    ['it is nested deeper than 64 levels', nest(65)],
  ])('TL-12 %s: refused, also before an aborted signal is looked at, and no policy runs', async (problem, args) => {
    const message = `TOOL_ARGUMENTS: arguments must be plain JSON: ${problem}`
    expect(messageOf(await app.call('raw', args))).toBe(message)
    expect(messageOf(await app.call('raw', args, { signal: AbortSignal.abort() }))).toBe(message)
    expect(got).toEqual([])
    expect(policyRan).toBe(0)
  })

  it('TL-12 a request whose arguments throw when they are read is refused as well', async () => {
    const request = {
      name: 'raw',
      session: app.session,
      signal: new AbortController().signal,
      get arguments(): unknown {
        throw new Error('no')
      },
    }
    expect(messageOf(await app.tools.execute(request))).toBe('TOOL_ARGUMENTS: arguments must be plain JSON: it cannot be read')
  })

  it('takes 64 levels, objects without a prototype, those of another realm, and one object in two places', async () => {
    const shared = { x: 1 }
    const sent = {
      deep: nest(63),
      bare: Object.assign(Object.create(null), { y: -0 }),
      foreign: runInNewContext('({ z: [1] })'),
      shared,
      again: shared,
    }
    await app.call('raw', sent)
    expect(got).toEqual([{ deep: nest(63), bare: { y: 0 }, foreign: { z: [1] }, shared: { x: 1 }, again: { x: 1 } }])
  })
})

describe('validation', () => {
  const register = (input: z.ZodObject, refuses = {}) => {
    const scope = app.kernel.scope.child('plugin')
    app.tools.register(
      scope,
      echo('typed', {
        input,
        refuses,
        output: z.unknown(),
        execute: async (value) => value,
        render: (value) => [{ type: 'text', text: JSON.stringify(value) }],
      }),
    )
  }
  const refusal = async (args: unknown) => messageOf(await app.call('typed', args))

  it('TL-13 all issues come in one message, with their paths', async () => {
    register(
      z.strictObject({
        name: z.string(),
        count: z.int().positive().optional(),
        mode: z.enum(['fast', 'slow']).optional(),
        items: z.array(z.strictObject({ id: z.number() })).optional(),
      }),
    )
    const result = await app.call('typed', { count: 0, mode: 'quick', items: [{ id: 1 }, { id: 'x', extra: 1 }], nam: 'a' })
    expect(messageOf(result)).toBe(
      [
        'TOOL_ARGUMENTS: invalid name: expected a string, got nothing',
        'invalid count: expected a positive number, got 0',
        'invalid mode: expected one of "fast", "slow", got "quick"',
        'invalid items[1].id: expected a number, got "x"',
        'unknown argument "items[1].extra"',
        'unknown argument "nam"; did you mean "name"?',
      ].join('\n'),
    )
    expect(result.content).toEqual([{ type: 'text', text: `Error: ${(result as { message: string }).message}` }])
    expect(result).toMatchObject({
      details: { issues: expect.arrayContaining([{ path: ['items', 1, 'id'], message: 'expected a number, got "x"' }]) },
    })
    expect(policyRan).toBe(0)
  })

  it.each([
    ['timeout_ms', 'timeoutMs'],
    ['TimeoutMS', 'timeoutMs'],
    ['run-in-background', 'run_in_background'],
    ['RunInBackground', 'run_in_background'],
    ['comand', 'command'],
  ])('TL-13 %s is told from %s', async (given, meant) => {
    register(z.strictObject({ timeoutMs: z.number().optional(), run_in_background: z.boolean().optional(), command: z.string().optional() }))
    expect(await refusal({ [given]: 1 })).toBe(`TOOL_ARGUMENTS: unknown argument "${given}"; did you mean "${meant}"?`)
  })

  it('TL-13 an own __proto__ is an unknown key like any other', async () => {
    register(z.strictObject({ a: z.number().optional() }))
    expect(await refusal(JSON.parse('{"__proto__": {"a": 1}}'))).toBe('TOOL_ARGUMENTS: unknown argument "__proto__"')
  })

  it("the author's own words stand as they are", async () => {
    register(z.strictObject({ a: z.string({ error: 'expected a non-empty string' }).min(1, { error: 'expected a non-empty string' }) }))
    expect(await refusal({})).toBe('TOOL_ARGUMENTS: invalid a: expected a non-empty string')
    expect(await refusal({ a: '' })).toBe('TOOL_ARGUMENTS: invalid a: expected a non-empty string')
  })

  it('of a union it says what any branch takes, or what is wrong in the one that fits', async () => {
    register(
      z.strictObject({ a: z.union([z.string(), z.number()]).optional(), b: z.union([z.string(), z.strictObject({ id: z.number() })]).optional() }),
    )
    expect(await refusal({ a: true })).toBe('TOOL_ARGUMENTS: invalid a: expected a string or a number, got true')
    expect(await refusal({ b: { id: 'x', od: 1 } })).toBe('TOOL_ARGUMENTS: invalid b.id: expected a number, got "x"\nunknown argument "b.od"')
  })

  it('asynchronous refinements are waited for, and one that throws is a refusal', async () => {
    register(z.strictObject({ a: z.string().refine(async (value) => value === 'yes', { error: 'must be yes' }) }))
    expect(await refusal({ a: 'no' })).toBe('TOOL_ARGUMENTS: invalid a: must be yes')
    expect(await app.call('typed', { a: 'yes' })).toMatchObject({ isError: false, value: { a: 'yes' } })
    register(
      z.strictObject({
        a: z.string().refine(() => {
          throw new Error('the check is broken')
        }),
      }),
    )
    expect(await refusal({ a: 'x' })).toBe('TOOL_ARGUMENTS: invalid arguments: the check is broken')
  })

  it('TL-14 an unknown tool is told by its likely name', async () => {
    expect(messageOf(await app.call('Raww'))).toBe('TOOL_UNKNOWN: unknown tool "Raww"; did you mean "raw"?')
    expect(messageOf(await app.call('entirely-else'))).toBe('TOOL_UNKNOWN: unknown tool "entirely-else"')
    expect(messageOf(await app.call('x"\n'.repeat(50)))).toMatch(/^TOOL_UNKNOWN: unknown tool "x\\"\\n.{1,190}…"$/)
  })

  it("TL-14 of a raw tool its validator's issues are told, without one only that an object is needed", async () => {
    const validate = (args: JsonObject) =>
      args.ok === true
        ? []
        : [
            { path: ['ok'], message: 'must be true' },
            { path: [], message: 'and so on' },
          ]
    app.tools.register(app.kernel.scope, raw('strict', undefined, { validate }))
    expect(messageOf(await app.call('strict', {}))).toBe('TOOL_ARGUMENTS: invalid ok: must be true\ninvalid arguments: and so on')
    expect(await app.call('strict', { ok: true })).toMatchObject({ isError: false })
    expect(messageOf(await app.call('raw', 7))).toBe('TOOL_ARGUMENTS: invalid arguments: expected an object, got 7')
    expect(await app.call('raw', { whatever: 1 })).toMatchObject({ isError: false })
  })

  it('TL-14 a refused key is told beside other issues, or dropped', async () => {
    register(z.strictObject({ a: z.number() }), { later: (value: unknown) => (value === true ? 'later is switched off' : undefined) })
    expect(await refusal({ later: true, a: 'x' })).toBe('TOOL_ARGUMENTS: later is switched off\ninvalid a: expected a number, got "x"')
    expect(await refusal({ later: true, a: 1 })).toBe('TOOL_ARGUMENTS: later is switched off')
    expect(await app.call('typed', { later: false, a: 1 })).toMatchObject({ isError: false, value: { a: 1 } })
  })

  it('TL-15 no arguments count as an empty object', async () => {
    register(z.strictObject({ a: z.number().default(3) }))
    expect(await app.call('typed')).toMatchObject({ isError: false, value: { a: 3 } })
  })

  it.each([
    [null, 'null'],
    [[1], 'an array'],
    ['text', '"text"'],
    [7, '7'],
  ])('TL-15 %j in place of an object is one clear issue', async (args, told) => {
    register(z.strictObject({ a: z.number(), b: z.string() }))
    expect(await refusal(args)).toBe(`TOOL_ARGUMENTS: invalid arguments: expected an object, got ${told}`)
  })
})
