import type { After, Decision, Middleware, Outcome, ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
let bodies = 0
beforeEach(async () => {
  app = await openTools()
  bodies = 0
  app.tools.register(
    app.kernel.scope,
    raw('raw', async () => {
      bodies++
      return { from: 'body' }
    }),
  )
})
afterEach(() => app.kernel.close())

const use = (middleware: Middleware) => app.tools.use(app.kernel.scope, middleware)
const decide = (name: string, decision: Decision | Promise<Decision>) => use({ name, before: () => decision })
const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : `ok: ${JSON.stringify(result.value)}`)

describe('policies', () => {
  it('TL-16 the steps come in order, and hooks in order of registration', async () => {
    const trace: string[] = []
    const probe = (what: string) => trace.push(what) > 0
    const policy = (name: string): Middleware => ({
      name,
      before: () => {
        probe(`before ${name}`)
        return { decision: 'allow' }
      },
      guard: () => {
        probe(`guard ${name}`)
        return undefined
      },
      around: async (_call, next) => {
        probe(`around ${name} in`)
        const outcome = await next()
        probe(`around ${name} out`)
        return outcome
      },
      after: (_call, result) => {
        probe(`after ${name} frozen:${Object.isFrozen(result)}`)
        return undefined
      },
    })
    app.tools.calls.on(app.kernel.scope, ({ type }) => void probe(type))
    app.tools.register(
      app.kernel.scope,
      echo('probed', {
        input: z.strictObject({ text: z.string().refine(() => probe('validate')) }),
        output: z.strictObject({ text: z.string().refine(() => probe('output')) }),
        execute: async (input) => {
          probe('body')
          return { text: (input as { text: string }).text }
        },
        render: () => {
          probe('render')
          return [{ type: 'text', text: 'x' }]
        },
      }),
    )
    use(policy('one'))
    use(policy('two'))
    const args = {
      get text() {
        probe('snapshot')
        return 'x'
      },
    }
    await app.call('probed', args)
    expect(trace).toEqual([
      'snapshot',
      'validate',
      'started',
      'before one',
      'before two',
      'guard one',
      'guard two',
      'around one in',
      'around two in',
      'body',
      'around two out',
      'around one out',
      'output',
      'render',
      'after one frozen:true',
      'after two frozen:true',
      'finished',
    ])
  })

  it('TL-16 a denial never enters around, and after sees it frozen', async () => {
    let seen: ToolResult | undefined
    let wrapped = false
    use({
      name: 'no',
      before: () => ({ decision: 'deny', reason: 'not today' }),
      around: (_call, next) => {
        wrapped = true
        return next()
      },
      after: (_call, result) => {
        seen = result
        return undefined
      },
    })
    const result = await app.call('raw')
    expect(told(result)).toBe('TOOL_DENIED: denied: not today')
    expect(wrapped).toBe(false)
    expect(bodies).toBe(0)
    expect(seen).toEqual(result)
    expect(Object.isFrozen(seen)).toBe(true)
    expect(Object.isFrozen(seen?.content)).toBe(true)
  })

  it('TL-17 deny outweighs ask, ask outweighs allow', async () => {
    decide('a', { decision: 'allow' })
    expect(told(await app.call('raw'))).toBe('ok: {"from":"body"}')
    decide('b', { decision: 'ask', reason: 'is it safe' })
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: needs approval (is it safe), and nobody can be asked')
    decide('c', Promise.resolve({ decision: 'deny', reason: 'one' }))
    decide('d', { decision: 'deny', reason: 'two' })
    decide('e', { decision: 'allow' })
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: one; two')
  })

  it('TL-19 a guard beats what was allowed, the first string denies', async () => {
    use({ name: 'a', guard: () => undefined })
    use({ name: 'b', guard: () => 'guarded' })
    use({ name: 'c', guard: () => 'too late', before: () => ({ decision: 'allow' }) })
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: guarded')
    expect(bodies).toBe(0)
  })

  it.each([
    ['a promise', () => Promise.resolve('denied')],
    ['a rejected promise', () => Promise.reject(new Error('late'))],
    ['a number', () => 1],
    ['null', () => null],
  ])('TL-19 a guard that returns %s fails closed', async (_what, guard) => {
    use({ name: 'odd', guard: guard as never })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "odd" failed: guard must return a string or undefined, and at once')
    expect(bodies).toBe(0)
    await drained()
  })

  it('TL-19 a policy added by a guard counts from the next call, and one that leaves meanwhile still counts', async () => {
    let added = false
    const leaving = app.kernel.scope.child('leaving')
    use({
      name: 'adder',
      guard: () => {
        if (!added) use({ name: 'added', guard: () => 'added' })
        added = true
        void leaving.close()
        return undefined
      },
    })
    app.tools.use(leaving, { name: 'leaving', guard: () => 'still here' })
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: still here')
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: added')
  })

  const boom = () => {
    throw new Error('boom')
  }
  it.each<[string, Middleware, number]>([
    ['before', { name: 'P', before: boom }, 0],
    ['before, later', { name: 'P', before: async () => boom() }, 0],
    ['guard', { name: 'P', guard: boom }, 0],
    ['around', { name: 'P', around: boom }, 0],
    ['around, after the body', { name: 'P', around: (_call, next) => next().then(boom) }, 1],
    ['after', { name: 'P', after: boom }, 1],
    ['after, later', { name: 'P', after: async () => boom() }, 1],
  ])('TL-20 a throw in %s ends the call, naming the policy', async (_hook, middleware, ran) => {
    use(middleware)
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "P" failed: boom')
    expect(bodies).toBe(ran)
  })

  it.each<[string, Middleware]>([
    ['before', { name: 'P', before: () => ({ decision: 'maybe' }) as never }],
    ['before', { name: 'P', before: () => undefined as never }],
    ['before', { name: 'P', before: () => ({ decision: 'deny' }) as never }],
    ['around', { name: 'P', around: async () => ({ ok: 'yes' }) as never }],
    ['around', { name: 'P', around: async () => undefined as never }],
    ['after', { name: 'P', after: () => 'text' as never }],
  ])('TL-20 nonsense from %s counts as a throw', async (hook, middleware) => {
    use(middleware)
    expect(told(await app.call('raw'))).toMatch(new RegExp(`^TOOL_MIDDLEWARE: policy "P" failed: ${hook} `))
  })

  it('TL-20 no wrapper outside a broken one can make a success of it', async () => {
    use({
      name: 'outer',
      around: async (_call, next): Promise<Outcome> => {
        const inner = await next()
        expect(inner).toMatchObject({ ok: false, code: 'TOOL_MIDDLEWARE' })
        return { ok: true, value: 'fine' }
      },
    })
    use({ name: 'inner', around: boom })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "inner" failed: boom')
  })

  it('TL-22 next twice throws', async () => {
    use({ name: 'twice', around: (_call, next) => next().then(() => next()) })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "twice" failed: next may be called once')
    expect(bodies).toBe(1)
  })

  it("TL-22 a replaced signal is fused with the caller's", async () => {
    let mine = new AbortController()
    const seen: AbortSignal[] = []
    app.tools.register(
      app.kernel.scope,
      raw('slow', (_args, call) => {
        seen.push(call.signal)
        return new Promise((_resolve, reject) => {
          call.signal.addEventListener('abort', () => reject(call.signal.reason))
        })
      }),
    )
    use({ name: 'limit', around: (_call, next) => next(mine.signal) })
    const first = app.call('slow')
    await drained()
    mine.abort(new Error('the limit of the policy'))
    expect(told(await first)).toBe('TOOL_FAILED: the limit of the policy')
    mine = new AbortController()

    const caller = new AbortController()
    const second = app.call('slow', {}, { signal: caller.signal })
    await drained()
    caller.abort()
    expect(told(await second)).toBe('TOOL_ABORTED: tool call aborted')
    expect(seen.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  it('TL-22 a short-circuit value is validated and rendered like any other', async () => {
    app.tools.register(app.kernel.scope, echo())
    let value: unknown = { text: 'from the wrapper' }
    use({ name: 'short', around: async () => ({ ok: true, value: value as never }) })
    expect(await app.call('echo')).toMatchObject({ isError: false, value, content: [{ type: 'text', text: 'from the wrapper' }] })
    value = { text: 7 }
    expect(told(await app.call('echo'))).toBe('TOOL_OUTPUT: tool "echo" returned an invalid result')
    expect(bodies).toBe(0)
  })

  it('TL-22 a wrapper may turn an outcome into another, with code and details', async () => {
    use({ name: 'quota', around: async () => ({ ok: false, code: 'QUOTA', message: 'used up', details: { left: 0 } }) })
    expect(await app.call('raw')).toMatchObject({ isError: true, code: 'QUOTA', message: 'used up', details: { left: 0 } })
  })

  const after = (answer: unknown) => use({ name: 'P', after: () => answer as After })

  it('TL-23 content keeps the value', async () => {
    after({ content: [{ type: 'text', text: 'shown instead' }] })
    expect(await app.call('raw')).toMatchObject({ isError: false, value: { from: 'body' }, content: [{ type: 'text', text: 'shown instead' }] })
  })

  it('TL-23 a value is validated and rendered again', async () => {
    app.tools.register(app.kernel.scope, echo())
    after({ value: { text: 'other' } })
    expect(await app.call('echo')).toMatchObject({ isError: false, value: { text: 'other' }, content: [{ type: 'text', text: 'other' }] })
    expect(told(await app.call('raw'))).toBe('ok: {"text":"other"}')
    after({ value: { text: 1n } })
    expect(told(await app.call('echo'))).toBe('TOOL_OUTPUT: tool "echo" returned an invalid result')
  })

  it.each([
    [{ content: [], value: 1 }],
    [{ value: 1, block: 'no' }],
    [{ value: undefined, content: [] }],
    [{}],
    [{ block: 'a', content: [] }],
    [{ block: 7 }],
    [{ other: 1 }],
    [{ content: [] }],
    [{ content: [{ type: 'text' }] }],
  ])('TL-23 %j withholds the value', async (answer) => {
    after(answer)
    const result = await app.call('raw')
    expect(told(result)).toMatch(/^TOOL_MIDDLEWARE: policy "P" failed: /)
    expect(result).not.toHaveProperty('value')
  })

  it('TL-23 a failed call takes other content or a block, no value', async () => {
    app.tools.register(
      app.kernel.scope,
      raw('broken', () => Promise.reject(new Error('broken'))),
    )
    const scope = app.kernel.scope.child('first')
    app.tools.use(scope, { name: 'P', after: () => ({ content: [{ type: 'text', text: 'try again' }] }) })
    expect(await app.call('broken')).toMatchObject({ code: 'TOOL_FAILED', message: 'broken', content: [{ type: 'text', text: 'try again' }] })
    await scope.close()
    after({ value: 1 })
    expect(told(await app.call('broken'))).toBe('TOOL_MIDDLEWARE: policy "P" failed: after cannot give a failed call a value')
  })

  it('TL-23 block drops the value, and later policies see the block', async () => {
    const seen: string[] = []
    after({ block: 'contains a secret' })
    use({
      name: 'Q',
      after: (_call, result) => {
        seen.push(told(result))
        return undefined
      },
    })
    const result = await app.call('raw')
    expect(told(result)).toBe('TOOL_BLOCKED: blocked: contains a secret')
    expect(result).not.toHaveProperty('value')
    expect(result.content).toEqual([{ type: 'text', text: 'Error: blocked: contains a secret' }])
    expect(seen).toEqual(['TOOL_BLOCKED: blocked: contains a secret'])
  })

  it.each([
    [{ name: ' ' }, 'middleware: name must not be blank'],
    [{ name: 'P', budgetMs: 0 }, 'middleware "P": budgetMs must be an integer from 1 to 2147483647'],
    [{ name: 'P', budgetMs: Number.NaN }, 'middleware "P": budgetMs must be an integer from 1 to 2147483647'],
    [{ name: 'P', guard: 'no' as never }, 'middleware "P": guard must be a function'],
  ])('a policy that cannot work is refused: %j', (middleware, message) => {
    expect(() => use(middleware)).toThrow(expect.objectContaining({ code: 'TOOL_INVALID', message }))
  })
})
