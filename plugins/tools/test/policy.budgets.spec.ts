import { definePlugin } from '@tenon/kernel'
import { Approval, type Middleware, type Outcome, type ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Gate } from './gate.ts'
import { drained, type Opened, openTools, raw } from './opened.ts'

let app: Opened
let bodies = 0
let body: () => Promise<unknown> = async () => 'done'
beforeEach(async () => {
  app = await openTools({ middlewareBudgetMs: 30 })
  bodies = 0
  body = async () => 'done'
  app.tools.register(
    app.kernel.scope,
    raw('raw', () => {
      bodies++
      return body() as Promise<never>
    }),
  )
})
afterEach(() => app.kernel.close())

const use = (middleware: Middleware) => app.tools.use(app.kernel.scope, middleware)
const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : `ok: ${JSON.stringify(result.value)}`)

describe('budgets of policies', () => {
  it.each<[string, (gate: Gate<never>) => Middleware, number]>([
    ['before', (gate) => ({ name: 'P', before: () => gate.pass() }), 0],
    ['around', (gate) => ({ name: 'P', around: () => gate.pass() }), 0],
    ['around, after the body', (gate) => ({ name: 'P', around: (_call, next) => next().then(() => gate.pass()) }), 1],
    ['after', (gate) => ({ name: 'P', after: () => gate.pass() }), 1],
  ])('TL-21 a hung %s ends within its budget, and what it says later is ignored', async (_hook, make, ran) => {
    const gate = new Gate<never>()
    use(make(gate))
    const result = await app.call('raw')
    expect(told(result)).toBe('TOOL_MIDDLEWARE: policy "P" took longer than 30ms')
    expect(result).not.toHaveProperty('value')
    expect(bodies).toBe(ran)
    gate.fail(new Error('much later'))
    await drained()
    expect(app.complaints).toEqual([])
  })

  it("TL-21 a policy's own budget counts instead of the default", async () => {
    use({ name: 'slow', budgetMs: 5_000, before: () => new Promise((resolve) => setTimeout(() => resolve({ decision: 'allow' }), 60)) })
    expect(told(await app.call('raw'))).toBe('ok: "done"')
    use({ name: 'fast', budgetMs: 1, before: () => new Gate<never>().pass() })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "fast" took longer than 1ms')
  })

  it('TL-21 time inside next does not count, nor does that of an approval', async () => {
    body = () => new Promise((resolve) => setTimeout(() => resolve('slow'), 80))
    use({ name: 'outer', around: (_call, next) => next() })
    use({ name: 'inner', around: (_call, next) => next() })
    use({ name: 'asks', before: () => ({ decision: 'ask', reason: 'r' }) })
    const ask = () => new Promise<'granted'>((resolve) => setTimeout(() => resolve('granted'), 80))
    await app.kernel.load(definePlugin({ name: 'approver', provides: [Approval], activate: (scope) => scope.provide(Approval, { ask }) })).ready()
    await app.kernel.settled()
    expect(told(await app.call('raw'))).toBe('ok: "slow"')
  })

  it('TL-21 time before and after next counts together', async () => {
    const half = () => new Promise((resolve) => setTimeout(resolve, 20))
    use({
      name: 'P',
      around: async (_call, next): Promise<Outcome> => {
        await half()
        const outcome = await next()
        await half()
        return outcome
      },
    })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "P" took longer than 30ms')
    expect(bodies).toBe(1)
  })

  it('a wrapper that calls next after the end of its call starts nothing', async () => {
    const gate = new Gate()
    let late: unknown
    use({
      name: 'P',
      around: async (_call, next): Promise<Outcome> => {
        await gate.pass()
        try {
          return await next()
        } catch (error) {
          late = error
          throw error
        }
      },
    })
    expect(told(await app.call('raw'))).toBe('TOOL_MIDDLEWARE: policy "P" took longer than 30ms')
    gate.open()
    await drained()
    expect(late).toMatchObject({ message: 'next was called after the end of the call' })
    expect(bodies).toBe(0)
  })

  it('a wrapper that does not wait for the body: the body is aborted and waited for before the result', async () => {
    const trace: string[] = []
    app.tools.register(
      app.kernel.scope,
      raw(
        'slow',
        (_args, call) =>
          new Promise((resolve) => {
            call.signal.addEventListener('abort', () => {
              trace.push('aborted')
              setImmediate(() => {
                trace.push('ended')
                resolve(null)
              })
            })
          }),
      ),
    )
    use({
      name: 'limit',
      around: async (_call, next): Promise<Outcome> => {
        void next()
        return { ok: false, code: 'LIMIT', message: 'out of time' }
      },
    })
    const result = await app.call('slow')
    trace.push('result')
    expect(told(result)).toBe('LIMIT: out of time')
    expect(trace).toEqual(['aborted', 'ended', 'result'])
  })
})
