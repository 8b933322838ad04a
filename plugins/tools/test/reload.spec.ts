import { definePlugin, type Plugin, Scope } from '@tenon/kernel'
import tools from '@tenon/plugin-tools'
import { openSession } from '@tenon/session'
import { type RawTool, type Tool, type ToolResult, Tools } from '@tenon/tools'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Gate } from './gate.ts'
import { drained, echo, type Opened, openTools, raw } from './opened.ts'

let app: Opened
beforeEach(async () => {
  app = await openTools({ reconcileWaitMs: 100, abortGraceMs: 50 })
})
afterEach(() => app.kernel.close())

const told = (result: ToolResult) => (result.isError ? `${result.code}: ${result.message}` : `ok: ${JSON.stringify(result.value)}`)
const answering = (answer: string, description = 'Raw.') => raw('tool', async () => answer, { description })

/** A plugin with one tool; `wait` holds its activation. */
function toolPlugin(tool: Tool | RawTool, wait?: () => Promise<void>, name = 'tool-plugin'): Plugin<undefined> {
  return definePlugin({
    name,
    inject: [Tools],
    async activate(scope, tools) {
      await wait?.()
      tools.register(scope, tool as Tool)
    },
  })
}

describe('pinning', () => {
  it.each(['replaced', 'removed'])('TL-28 a definition %s during approval, body or after: the call ends with the one it began with', async (how) => {
    for (const stage of ['before', 'body', 'after'] as const) {
      const gate = new Gate()
      const wait = (at: string) => (stage === at ? gate.pass() : Promise.resolve())
      const old = app.kernel.scope.child('old')
      const definition = raw(
        'tool',
        async () => {
          await wait('body')
          return 'old'
        },
        { render: (value) => [{ type: 'text', text: `old ${value}` }] },
      )
      app.tools.register(old, definition)
      app.tools.use(old, {
        name: 'P',
        before: async () => {
          await wait('before')
          return { decision: 'allow' }
        },
        after: async () => {
          await wait('after')
          return undefined
        },
      })
      const call = app.call('tool')
      await gate.reached
      const fresh = app.kernel.scope.child('new')
      if (how === 'replaced') app.tools.register(fresh, answering('new'))
      await old.close()
      gate.open()
      expect(await call).toMatchObject({ isError: false, value: 'old', content: [{ type: 'text', text: 'old old' }] })
      expect(told(await app.call('tool'))).toBe(how === 'replaced' ? 'ok: "new"' : 'TOOL_UNKNOWN: unknown tool "tool"')
      await fresh.close()
    }
  })
})

describe('reload', () => {
  it('TL-07 reload of a tool plugin, and of this row, with unchanged texts: nothing is announced, same epoch', async () => {
    const row = app.kernel.load(toolPlugin(echo()))
    await row.ready()
    await drained()
    expect(app.changes).toHaveLength(1)
    const before = app.tools.view()
    const between: unknown[] = []
    await row.replace(
      toolPlugin(echo(), async () => {
        between.push(app.tools.get('echo'))
      }),
    )
    await app.kernel.row('tools')?.reconfigure({ maxContentBytes: 1_000 })
    await app.kernel.settled()
    await drained()
    expect(between).toEqual([undefined, undefined])
    expect(app.changes).toHaveLength(1)
    expect(app.tools.view()).toBe(before)
    expect(app.kernel.get(Tools)?.view()).toBe(before)
  })

  it('a reload that ends with another definition is one change, told when it is over', async () => {
    const row = app.kernel.load(toolPlugin(echo()))
    await row.ready()
    await drained()
    const gate = new Gate()
    const replaced = row.replace(toolPlugin(echo('echo', { description: 'other' }), () => gate.pass()))
    await gate.reached
    await drained()
    expect(app.changes).toHaveLength(1)
    gate.open()
    await replaced
    await drained()
    expect(app.changes.slice(1)).toEqual([{ epoch: expect.any(Number), added: [], removed: [], replaced: ['echo'] }])
  })

  it('a change is held no longer than reconcileWaitMs, whatever hangs', async () => {
    const gate = new Gate()
    const hung = definePlugin({ name: 'hung', activate: () => gate.pass() })
    app.kernel.load(hung)
    await gate.reached
    const announced = new Promise((resolve) => app.tools.changed.on(app.kernel.scope, resolve))
    app.tools.register(app.kernel.scope, echo())
    await drained()
    expect(app.changes).toEqual([])
    expect(await announced).toMatchObject({ added: ['echo'] })
    gate.open()
  })

  it('TL-29 the tool plugin and the tools row reloaded under a running call: its real result', async () => {
    const gate = new Gate<string>()
    const tool = raw('tool', () => gate.pass())
    const row = app.kernel.load(toolPlugin(tool))
    await row.ready()
    const call = app.call('tool')
    await gate.reached
    await row.replace(toolPlugin(answering('new')))
    await app.kernel.row('tools')?.reconfigure({ maxContentBytes: 1_000 })
    await app.kernel.settled()
    expect(told(await app.call('tool'))).toBe('ok: "new"')
    gate.open('the real one')
    expect(told(await call)).toBe('ok: "the real one"')
    expect(app.events.filter(({ type }) => type === 'finished')).toHaveLength(2)
  })

  it('a value of an earlier activation keeps working: tools, policies, listeners', async () => {
    const old = app.tools
    app.tools.register(app.kernel.scope, answering('hosted'))
    app.tools.use(app.kernel.scope, { name: 'P', guard: (call) => (call.arguments.no === true ? 'no' : undefined) })
    await app.kernel.row('tools')?.reconfigure({ maxContentBytes: 1_000 })
    await app.kernel.settled()
    const fresh = app.kernel.get(Tools) as Tools
    expect(fresh).not.toBe(old)
    for (const tools of [old, fresh]) {
      app.tools = tools
      expect(told(await app.call('tool'))).toBe('ok: "hosted"')
      expect(told(await app.call('tool', { no: true }))).toBe('TOOL_DENIED: denied: no')
    }
    await drained()
    old.register(app.kernel.scope, echo('late'))
    expect(fresh.get('late')).toBeDefined()
    await drained()
    expect(app.changes.at(-1)).toMatchObject({ added: ['late'] })
  })

  it('TL-30 calls that arrive while rows reconcile run on the new definition', async () => {
    const row = app.kernel.load(toolPlugin(answering('old')))
    await row.ready()
    const gate = new Gate()
    const replaced = row.replace(toolPlugin(answering('new'), () => gate.pass()))
    await gate.reached
    const calls = [app.call('tool'), app.call('tool')]
    gate.open()
    await replaced
    expect((await Promise.all(calls)).map(told)).toEqual(['ok: "new"', 'ok: "new"'])
  })

  it('TL-30 a tool that is still missing is unavailable and names the rows; a visible one runs although an unrelated row hangs', async () => {
    app.tools.register(
      app.kernel.scope,
      raw('visible', async () => 'here'),
    )
    const gate = new Gate()
    app.kernel.load(toolPlugin(answering('late'), () => gate.pass(), 'slow-row'))
    app.kernel.load(toolPlugin(raw('other'), () => gate.pass(), 'other-row'))
    await gate.reached
    const [missing, visible] = await Promise.all([app.call('tool'), app.call('visible')])
    expect(told(missing)).toBe('TOOL_UNAVAILABLE: tool "tool" is unavailable: slow-row, other-row reloading (waited 100ms)')
    expect(missing).toMatchObject({ details: { rows: ['slow-row', 'other-row'] } })
    expect(told(visible)).toBe('ok: "here"')
    gate.open()
    await app.kernel.settled()
    expect(told(await app.call('tool'))).toBe('ok: "late"')
  })

  it('TL-30 an abort while waiting is immediate, and a tool nobody brings is unknown once the rows settled', async () => {
    const gate = new Gate()
    const controller = new AbortController()
    app.kernel.load(definePlugin({ name: 'hung', activate: () => gate.pass() }))
    await gate.reached
    const aborted = app.call('tool', {}, { signal: controller.signal })
    const unknown = app.call('tool')
    await drained()
    controller.abort()
    expect(await aborted).toMatchObject({ code: 'TOOL_ABORTED', details: { dispatched: false } })
    gate.open()
    expect(told(await unknown)).toBe('TOOL_UNKNOWN: unknown tool "tool"')
  })
})

describe('closing', () => {
  /** Ends `ms` after its abort. */
  const slowToEnd = (scope: Scope, started: Gate, ended: string[]) =>
    app.tools.register(
      scope,
      raw('slow', async (args, call) => {
        void started.pass()
        await new Promise<void>((resolve) => call.signal.addEventListener('abort', () => setTimeout(resolve, 10)))
        ended.push(String(args.who))
        return null
      }),
    )

  it("TL-31 closing a session aborts that session's calls only, and waits for them", async () => {
    const [mine, other] = [new Gate(), new Gate()]
    const ended: string[] = []
    const scope = app.kernel.scope.child('plugin')
    slowToEnd(scope, mine, ended)
    const session = openSession(app.kernel.scope, { id: 'mine', cwd: '/' })
    const first = app.call('slow', { who: 'mine' }, { session })
    await mine.reached
    slowToEnd(scope, other, ended)
    const second = app.call('slow', { who: 'other' })
    await other.reached
    await session.scope.close()
    expect(ended).toEqual(['mine'])
    expect(told(await first)).toBe('TOOL_ABORTED: tool call aborted')
    await app.session.scope.close()
    expect(ended).toEqual(['mine', 'other'])
    expect(told(await second)).toBe('TOOL_ABORTED: tool call aborted')
    expect(await app.call('slow', {}, { session })).toMatchObject({ code: 'TOOL_ABORTED', details: { dispatched: false } })
  })

  it('TL-31 a session has one hook of the registry, however many calls it made, and none after the registry has gone', async () => {
    const session = openSession(new Scope('elsewhere'), { id: 'lasting', cwd: '/' })
    const before = session.scope.effects
    const hooks: Scope[] = []
    const open = session.scope.child.bind(session.scope)
    session.scope.child = (name) => {
      const scope = open(name)
      hooks.push(scope)
      return scope
    }
    for (let round = 1; round <= 3; round++) {
      app.tools.register(app.kernel.scope, raw(`raw-${round}`))
      for (let n = 0; n < 5; n++) await app.call(`raw-${round}`, {}, { session })
      await app.kernel.row('tools')?.unload()
      expect([hooks.length, hooks.filter(({ closed }) => !closed).length, session.scope.effects]).toEqual([round, 0, before])
      await app.kernel.load(tools).ready()
      app.tools = app.kernel.get(Tools) as Tools
    }
    await session.scope.close()
  })

  it('TL-31 closing the runtime aborts calls in flight, waits within the grace, and leaves the deaf behind', async () => {
    const started = new Gate()
    const ended: string[] = []
    slowToEnd(app.kernel.scope, started, ended)
    const foreign = openSession(new Scope('elsewhere'), { id: 'foreign', cwd: '/' })
    const deaf = new Gate<never>()
    app.tools.register(
      app.kernel.scope,
      raw('deaf', () => deaf.pass()),
    )
    const calls = [app.call('slow', { who: 'mine' }), app.call('slow', { who: 'foreign' }, { session: foreign }), app.call('deaf')]
    await started.reached
    await deaf.reached
    await app.kernel.close()
    expect(ended.sort()).toEqual(['foreign', 'mine'])
    const results = await Promise.all(calls)
    expect(results.map(told)).toEqual(Array(3).fill('TOOL_ABORTED: tool call aborted'))
    expect(results[2]).toMatchObject({ details: { abandoned: true } })
    expect(await app.call('slow', {}, { session: foreign })).toMatchObject({ code: 'TOOL_ABORTED', details: { dispatched: false } })
  })
})
