import { definePlugin, type Row } from '@tenon/kernel'
import { Approval, type CallView, type ToolResult } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Gate } from './gate.ts'
import { drained, type Opened, openTools, raw } from './opened.ts'

let app: Opened
let bodies = 0
beforeEach(async () => {
  app = await openTools()
  bodies = 0
  app.tools.register(
    app.kernel.scope,
    raw('raw', async () => {
      bodies++
      return 'done'
    }),
  )
  app.tools.use(app.kernel.scope, { name: 'asks', before: () => ({ decision: 'ask', reason: 'writes files' }) })
})
afterEach(() => app.kernel.close())

async function approver(ask: Approval['ask'], id = 'approver'): Promise<Row> {
  const plugin = definePlugin({ name: 'approver', provides: [Approval], activate: (scope) => scope.provide(Approval, { ask }) })
  const row = app.kernel.load(plugin, undefined, { id })
  await row.ready()
  await app.kernel.settled()
  return row
}
const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : 'ok')

describe('approval', () => {
  it.each(['throws', 'rejects with'])('TL-18 an approver that %s what cannot be asked for its prototype denies, as with any fault', async (how) => {
    await approver(() => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      if (how === 'throws') throw proxy
      return Promise.reject(proxy)
    })
    expect(told(await app.call('raw'))).toMatch(/^TOOL_DENIED: /)
    expect([bodies, app.complaints]).toEqual([0, ['the approval failed: <unprintable thrown value>']])
  })

  it('TL-17 two policies that ask are one question, with both reasons, the same arguments and signal', async () => {
    const asked: (CallView & { reason: string })[] = []
    const views: CallView[] = []
    app.tools.use(app.kernel.scope, {
      name: 'asks too',
      before: async (call) => {
        views.push(call)
        return { decision: 'ask', reason: 'costs money' }
      },
    })
    await approver(async (request) => {
      asked.push(request)
      return 'granted'
    })
    expect(told(await app.call('raw', { path: '/a' }))).toBe('ok')
    expect(asked).toHaveLength(1)
    expect(asked[0]).toEqual({ ...views[0], reason: 'writes files; costs money' })
    expect(asked[0]?.arguments).toBe(views[0]?.arguments)
    expect(asked[0]?.signal).toBe(views[0]?.signal)
    expect(Object.isFrozen(asked[0])).toBe(true)
  })

  it.each<[string, Approval['ask'], string]>([
    ['rejected', async () => 'rejected', 'denied: rejected by the user (writes files)'],
    ['cancelled', async () => 'cancelled', 'denied: the approval was cancelled'],
    ['unavailable', async () => 'unavailable', 'denied: needs approval (writes files), and nobody can be asked'],
    ['an unknown answer', async () => 'yes' as never, 'denied: needs approval (writes files), and nobody can be asked'],
    ['a throw', () => Promise.reject(new Error('no terminal')), 'denied: needs approval (writes files), and nobody can be asked'],
  ])('TL-18 %s denies', async (_what, ask, message) => {
    await approver(ask)
    expect(told(await app.call('raw'))).toBe(`TOOL_DENIED: ${message}`)
    expect(bodies).toBe(0)
  })

  it('TL-18 absent: denied, and asked from the call after it is there', async () => {
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: needs approval (writes files), and nobody can be asked')
    const row = await approver(async () => 'granted')
    expect(told(await app.call('raw'))).toBe('ok')
    await row.unload()
    expect(told(await app.call('raw'))).toBe('TOOL_DENIED: denied: needs approval (writes files), and nobody can be asked')
  })

  it('TL-18 a provider that leaves while it is asked denies', async () => {
    const gate = new Gate<'granted'>()
    const row = await approver(() => gate.pass())
    const call = app.call('raw')
    await gate.reached
    await row.unload()
    expect(told(await call)).toBe('TOOL_DENIED: denied: the approval was cancelled')
    gate.open('granted')
    expect(bodies).toBe(0)
  })

  it('TL-36 fifty questions at the same time leave no listener and no warning', async () => {
    const warnings: string[] = []
    const warned = ({ message }: Error) => void warnings.push(message)
    process.on('warning', warned)
    const gate = new Gate<'granted'>()
    await approver(() => gate.pass())
    const calls = Array.from({ length: 50 }, () => app.call('raw'))
    await gate.reached
    await drained()
    gate.open('granted')
    expect((await Promise.all(calls)).map(told)).toEqual(Array(50).fill('ok'))
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })

  it('TL-29 a question that comes up while the provider is being reloaded waits for it', async () => {
    const [asking, coming] = [new Gate(), new Gate()]
    const provider = definePlugin({
      name: 'approver',
      provides: [Approval],
      async activate(scope) {
        if (generations++ > 0) await coming.pass()
        scope.provide(Approval, { ask: async () => 'granted' })
      },
    })
    let generations = 0
    const row = app.kernel.load(provider)
    await row.ready()
    app.tools.use(app.kernel.scope, { name: 'thinks', before: () => asking.pass().then(() => ({ decision: 'allow' }) as const) })
    const call = app.call('raw')
    await asking.reached
    const reloading = row.replace(provider)
    await coming.reached
    asking.open()
    await drained()
    expect(bodies).toBe(0)
    coming.open()
    await reloading
    expect([told(await call), bodies]).toEqual(['ok', 1])
  })

  it('TL-33 an abort while a question waits for its provider ends the call at once', async () => {
    const [asking, never] = [new Gate(), new Gate<never>()]
    let generations = 0
    const provider = definePlugin({
      name: 'approver',
      provides: [Approval],
      async activate(scope) {
        if (generations++ > 0) await Promise.race([never.pass(), new Promise((resolve) => scope.signal.addEventListener('abort', resolve))])
        scope.provide(Approval, { ask: async () => 'granted' })
      },
    })
    const row = app.kernel.load(provider)
    await row.ready()
    app.tools.use(app.kernel.scope, { name: 'thinks', before: () => asking.pass().then(() => ({ decision: 'allow' }) as const) })
    const controller = new AbortController()
    const call = app.call('raw', {}, { signal: controller.signal })
    await asking.reached
    row.replace(provider).catch(() => undefined)
    await never.reached
    asking.open()
    await drained()
    controller.abort()
    expect([told(await call), bodies]).toEqual(['TOOL_ABORTED: tool call aborted', 0])
  })

  it('TL-29 a reload of the tools row does not cancel what a person is being asked', async () => {
    const gate = new Gate<'granted'>()
    const row = await approver(() => gate.pass())
    const call = app.call('raw')
    await gate.reached
    await app.kernel.row('tools')?.reconfigure({ maxContentBytes: 1_000 })
    await app.kernel.settled()
    gate.open('granted')
    expect(told(await call)).toBe('ok')

    const second = new Gate<'granted'>()
    await row.unload()
    await approver(() => second.pass(), 'second')
    const next = app.call('raw')
    await second.reached
    await app.kernel.row('tools')?.reconfigure({ maxContentBytes: 2_000 })
    await app.kernel.row('second')?.unload()
    expect(told(await next)).toBe('TOOL_DENIED: denied: the approval was cancelled')
  })
})
