import { getEventListeners } from 'node:events'
import { setTimeout as later } from 'node:timers/promises'
import { definePlugin } from '@tenon/kernel'
import { openSession, type Session } from '@tenon/session'
import { Approval, type Decision, type Middleware, type ToolResult, Tools } from '@tenon/tools'
import { afterEach, describe, expect, it } from 'vitest'
import { drained, type Opened, openTools, raw } from './opened.ts'

let app: Opened
afterEach(() => app.kernel.close())

/** The same numbers in each run. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const CODES = new Set([
  'TOOL_ABORTED',
  'TOOL_DENIED',
  'TOOL_MIDDLEWARE',
  'TOOL_FAILED',
  'TOOL_BLOCKED',
  'TOOL_UNKNOWN',
  'TOOL_OUTPUT',
  'TOOL_UNAVAILABLE',
])

describe('a storm', () => {
  it.each([1, 2, 3, 4])(
    'TL-37 of calls, policies that fail in every way, aborts, reloads and sessions that end: one result each, nothing left (%i)',
    async (seed) => {
      const roll = random(seed)
      const unhandled: unknown[] = []
      const note = (reason: unknown) => void unhandled.push(reason)
      process.on('unhandledRejection', note)
      app = await openTools({ reconcileWaitMs: 50, abortGraceMs: 10, middlewareBudgetMs: 20 })
      const { kernel } = app

      /** What a hook, a body or an approval may do. */
      const act = async (): Promise<void> => {
        const what = roll(12)
        if (what === 0) throw new Error('broken')
        if (what === 1) await new Promise(() => undefined)
        if (what < 6) await later(roll(15))
      }
      const decisions: Decision[] = [
        { decision: 'allow' },
        { decision: 'allow' },
        { decision: 'ask', reason: 'why' },
        { decision: 'deny', reason: 'no' },
      ]
      const policy = (name: string): Middleware => ({
        name,
        before: async () => {
          await act()
          return decisions[roll(decisions.length)] as Decision
        },
        guard: () => (roll(20) === 0 ? 'guarded' : undefined),
        around: async (_call, next) => {
          if (roll(10) === 0) await act()
          if (roll(20) === 0) return { ok: true, value: 'short' }
          const outcome = await next(roll(5) === 0 ? AbortSignal.timeout(roll(20) + 1) : undefined)
          if (roll(10) === 0) await act()
          return outcome
        },
        after: async () => {
          await act()
          return roll(10) === 0 ? { block: 'blocked' } : undefined
        },
      })
      const tool = definePlugin({
        name: 'tool',
        inject: [Tools],
        activate(scope, tools) {
          tools.register(
            scope,
            raw('raw', async () => {
              await act()
              return 'done'
            }),
          )
          for (const name of ['one', 'two']) tools.use(scope, policy(name))
        },
      })
      const approver = definePlugin({
        name: 'approver',
        provides: [Approval],
        activate: (scope) =>
          scope.provide(Approval, {
            ask: async () => {
              await act()
              return 'granted'
            },
          }),
      })
      await Promise.all([kernel.load(tool).ready(), kernel.load(approver).ready()])

      const shared = new AbortController()
      const sessions: Session[] = [app.session]
      const controllers = [shared]
      const results: Promise<ToolResult>[] = []
      for (let step = 0; step < 300; step++) {
        const session = sessions[roll(sessions.length)] as Session
        const controller = new AbortController()
        controllers.push(controller)
        const { signal } = roll(2) === 0 ? controller : shared
        results.push(app.call('raw', { step }, { session, signal, id: `step-${step}` }))
        if (roll(4) === 0) setTimeout(() => controller.abort(), roll(20))
        if (roll(25) === 0)
          kernel
            .row('tool')
            ?.replace(tool)
            .catch(() => undefined)
        if (roll(25) === 0)
          kernel
            .row('tools')
            ?.reconfigure({ reconcileWaitMs: 50 + roll(9), abortGraceMs: 10, middlewareBudgetMs: 20 })
            .catch(() => undefined)
        if (roll(40) === 0)
          kernel
            .row('approver')
            ?.replace(approver)
            .catch(() => undefined)
        if (roll(20) === 0) sessions.push(openSession(kernel.scope, { id: `s-${step}`, cwd: '/' }))
        if (roll(30) === 0 && sessions.length > 1) void sessions.pop()?.scope.close()
        if (roll(3) === 0) await later(roll(4))
      }
      // Bodies and people take as long as they like: whoever hangs is ended by its caller.
      await later(100)
      for (const controller of controllers) controller.abort()
      const finished = await Promise.all(results)
      await kernel.settled()
      await drained()

      expect(finished.map(({ callId }) => callId)).toEqual(finished.map((_, step) => `step-${step}`))
      const codes = new Set(finished.flatMap((result) => (result.isError ? [result.code] : [])))
      expect([...codes].filter((code) => !CODES.has(code))).toEqual([])
      // The storm was one.
      for (const code of ['TOOL_ABORTED', 'TOOL_DENIED', 'TOOL_MIDDLEWARE']) expect(codes).toContain(code)
      expect(finished.some(({ isError }) => !isError)).toBe(true)
      const ids = (type: string) => app.events.filter((event) => event.type === type).map(({ call }) => call.id)
      expect([...ids('finished')].sort()).toEqual(finished.map(({ callId }) => callId).sort())
      expect(new Set(ids('started')).size).toBe(ids('started').length)
      for (const id of ids('started')) expect(ids('finished')).toContain(id)
      for (const signal of [shared.signal, app.session.scope.signal]) expect(getEventListeners(signal, 'abort')).toEqual([])
      process.off('unhandledRejection', note)
      expect(unhandled).toEqual([])
    },
  )
})
