import { getEventListeners } from 'node:events'
import { definePlugin } from '@tenon/kernel'
import { Approval, type Middleware, ToolError, type ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Gate } from './gate.ts'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
let bodies = 0
beforeEach(async () => {
  app = await openTools({ abortGraceMs: 50, middlewareBudgetMs: 60_000 })
  bodies = 0
  app.tools.register(
    app.kernel.scope,
    raw('raw', async () => {
      bodies++
      return 'done'
    }),
  )
})
afterEach(() => app.kernel.close())

const use = (middleware: Middleware) => app.tools.use(app.kernel.scope, middleware)
const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : `ok: ${JSON.stringify(result.value)}`)
const fixed = [{ type: 'text', text: 'Error: tool call aborted' }]

describe('abort', () => {
  it('TL-32 pre-aborted: no policy, no body, not dispatched', async () => {
    let policies = 0
    use({
      name: 'P',
      before: () => {
        policies++
        return { decision: 'allow' }
      },
      after: () => {
        policies++
        return undefined
      },
    })
    const result = await app.call('raw', {}, { signal: AbortSignal.abort(new Error('mine')) })
    expect(result).toMatchObject({
      isError: true,
      code: 'TOOL_ABORTED',
      message: 'tool call aborted',
      content: fixed,
      details: { dispatched: false },
    })
    expect([policies, bodies]).toEqual([0, 0])
    expect(app.events.map(({ type }) => type)).toEqual(['finished'])
  })

  it.each<[string, (gate: Gate<never>) => Middleware]>([
    ['before', (gate) => ({ name: 'P', before: () => gate.pass() })],
    ['around', (gate) => ({ name: 'P', around: () => gate.pass() })],
    ['around, after the body', (gate) => ({ name: 'P', around: (_call, next) => next().then(() => gate.pass()) })],
    ['after', (gate) => ({ name: 'P', after: () => gate.pass() })],
  ])('TL-33 a hung %s lets go at once', async (_hook, make) => {
    const gate = new Gate<never>()
    const { signal, abort } = controlled()
    use(make(gate))
    const call = app.call('raw', {}, { signal })
    await gate.reached
    abort()
    const result = await call
    expect(result).toMatchObject({ isError: true, code: 'TOOL_ABORTED', content: fixed })
    expect(result).not.toHaveProperty('value')
    gate.fail(new Error('late'))
    await drained()
  })

  it('TL-33 a hung approval lets go at once', async () => {
    const gate = new Gate<never>()
    const { signal, abort } = controlled()
    use({ name: 'asks', before: () => ({ decision: 'ask', reason: 'r' }) })
    const plugin = definePlugin({ name: 'approver', provides: [Approval], activate: (scope) => scope.provide(Approval, { ask: () => gate.pass() }) })
    await app.kernel.load(plugin).ready()
    await app.kernel.settled()
    const call = app.call('raw', {}, { signal })
    await gate.reached
    abort()
    expect(await call).toMatchObject({ code: 'TOOL_ABORTED', content: fixed })
    expect(bodies).toBe(0)
  })

  it('TL-33 a hung check of the arguments, and one of the value, let go at once', async () => {
    const gate = new Gate<never>()
    const { signal, abort } = controlled()
    app.tools.register(app.kernel.scope, echo('checked', { input: z.strictObject({ text: z.string().refine(() => gate.pass()) }) }))
    const call = app.call('checked', { text: 'x' }, { signal })
    await gate.reached
    abort()
    expect(await call).toMatchObject({ code: 'TOOL_ABORTED', details: { dispatched: false } })

    const late = new Gate<never>()
    const second = controlled()
    app.tools.register(app.kernel.scope, echo('shaped', { output: z.strictObject({ text: z.string().refine(() => late.pass()) }) }))
    const shaped = app.call('shaped', { text: 'x' }, { signal: second.signal })
    await late.reached
    second.abort()
    expect(await shaped).toMatchObject({ code: 'TOOL_ABORTED', content: fixed })
  })

  it('TL-33 the details of the TOOL_ABORTED a body throws are kept for hosts, its words are not', async () => {
    const { signal, abort } = controlled()
    app.tools.register(
      app.kernel.scope,
      raw('careful', (_args, call) =>
        untilAborted(call.signal, () => new ToolError('TOOL_ABORTED', 'with secrets', { details: { tail: 'last words' } })),
      ),
    )
    const call = app.call('careful', {}, { signal })
    await drained()
    abort()
    const result = await call
    expect(result).toMatchObject({ code: 'TOOL_ABORTED', message: 'tool call aborted', content: fixed, details: { tail: 'last words' } })
  })

  it('TL-34 success after an abort becomes TOOL_ABORTED, and so does another failure', async () => {
    for (const end of [() => 'success', () => Promise.reject(new Error('failure'))]) {
      const { signal, abort } = controlled()
      const scope = app.kernel.scope.child('plugin')
      const gate = new Gate()
      app.tools.register(
        scope,
        raw('late', async () => {
          await gate.pass()
          return end()
        }),
      )
      const call = app.call('late', {}, { signal })
      await gate.reached
      abort()
      gate.open()
      const result = await call
      expect(told(result)).toBe('TOOL_ABORTED: tool call aborted')
      expect(result).not.toHaveProperty('details')
    }
  })

  it('TL-34 a denial or a failure settled before the abort stays', async () => {
    const gate = new Gate<never>()
    use({ name: 'slow', after: () => gate.pass() })
    app.tools.register(
      app.kernel.scope,
      raw('broken', () => Promise.reject(new Error('broken'))),
    )
    const failing = controlled()
    const call = app.call('broken', {}, { signal: failing.signal })
    await gate.reached
    failing.abort()
    expect(told(await call)).toBe('TOOL_FAILED: broken')

    use({ name: 'denies', before: () => ({ decision: 'deny', reason: 'no' }) })
    const denied = controlled()
    const second = app.call('raw', {}, { signal: denied.signal })
    await drained()
    denied.abort()
    expect(told(await second)).toBe('TOOL_DENIED: denied: no')
  })

  it("TL-35 a body that ignores the abort is abandoned after the grace, and its late rejection is nobody else's", async () => {
    const unhandled: unknown[] = []
    const listener = (reason: unknown) => unhandled.push(reason)
    process.on('unhandledRejection', listener)
    try {
      const gate = new Gate<never>()
      const { signal, abort } = controlled()
      app.tools.register(
        app.kernel.scope,
        raw('deaf', () => gate.pass()),
      )
      const call = app.call('deaf', {}, { signal })
      await gate.reached
      abort()
      expect(await call).toMatchObject({ code: 'TOOL_ABORTED', content: fixed, details: { abandoned: true } })
      expect(app.complaints).toEqual(['tool "deaf" did not end within 50 ms of its abort and was left behind'])
      gate.fail(new Error('much later'))
      await drained()
      expect(unhandled).toEqual([])
    } finally {
      process.off('unhandledRejection', listener)
    }
  })

  it('TL-33 an abort within a policy: the policies after it are not asked, and no guard turns it into a denial', async () => {
    const controller = new AbortController()
    const asked: string[] = []
    use({
      name: 'aborts',
      before: () => {
        controller.abort()
        return { decision: 'allow' }
      },
    })
    use({
      name: 'late',
      before: () => {
        asked.push('before')
        return { decision: 'deny', reason: 'too late' }
      },
      guard: () => {
        asked.push('guard')
        return 'too late'
      },
    })
    expect(await app.call('raw', {}, { signal: controller.signal })).toMatchObject({ code: 'TOOL_ABORTED', content: fixed })
    expect([asked, bodies]).toEqual([[], 0])
  })

  it('TL-33 an abort within a guard: the guards after it are not asked', async () => {
    const controller = new AbortController()
    use({
      name: 'aborts',
      guard: () => {
        controller.abort()
        return undefined
      },
    })
    use({ name: 'late', guard: () => 'too late' })
    expect(await app.call('raw', {}, { signal: controller.signal })).toMatchObject({ code: 'TOOL_ABORTED', content: fixed })
    expect(bodies).toBe(0)
  })

  it('TL-36 2,000 sequential and 50 parallel calls on one signal leave no listener and no warning', async () => {
    const warnings: Error[] = []
    const listener = (warning: Error) => warnings.push(warning)
    process.on('warning', listener)
    try {
      const { signal } = controlled()
      const counts: number[] = []
      use({ name: 'wrapper', around: (_call, next) => next(signal) })
      app.tools.register(
        app.kernel.scope,
        raw('counting', async () => {
          await Promise.resolve()
          counts.push(getEventListeners(signal, 'abort').length)
          return null
        }),
      )
      for (let n = 0; n < 2_000; n++) await app.call('counting', {}, { signal })
      await Promise.all(Array.from({ length: 50 }, () => app.call('counting', {}, { signal })))
      await drained()
      expect(counts).toHaveLength(2_050)
      expect(Math.max(...counts)).toBe(1)
      for (const source of [signal, app.session.scope.signal]) expect(getEventListeners(source, 'abort')).toHaveLength(0)
      expect(warnings).toEqual([])
    } finally {
      process.off('warning', listener)
    }
  })
})

function controlled(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

function untilAborted(signal: AbortSignal, reason: () => Error): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(reason()))
  })
}
