import { setTimeout as later } from 'node:timers/promises'
import type { Plugin, Row } from '@tenon/kernel'
import localSubprocess from '@tenon/plugin-local-subprocess'
import toolBash from '@tenon/plugin-tool-bash'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, delivered, shown } from './shell-tool/composition.ts'

let app: Composition
afterEach(() => app[Symbol.asyncDispose]())

async function turns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
}
/** The same code again, as a reload of its files gives it. */
const again = (plugin: Plugin): Plugin => ({ ...plugin })
/** Another config that means nothing here, or the code again: either way the row goes down and comes up. */
const RELOADS: readonly (readonly [id: string, reload: (row: Row) => Promise<void>])[] = [
  ['tool-bash', (row) => row.replace(again(toolBash as Plugin))],
  ['local-bash', (row) => row.reconfigure({ maxTimeoutMs: 600_001 })],
  ['local-subprocess', (row) => row.replace(again(localSubprocess as Plugin))],
  ['shell-env', (row) => row.reconfigure({ home: '/elsewhere' })],
  ['tools', (row) => row.reconfigure({ maxContentBytes: 100_000 })],
  ['system-prompt', (row) => row.reconfigure({ sectionBudgetMs: 900 })],
]

const JOBS = ['jobs', (row: Row) => row.reconfigure({ settledPerOwner: 150 })] as const

describe('reload under a running command', () => {
  it.each([true, false])('TL-29 every row in turn, as a job: %s; the call gives its real result', async (asJob) => {
    app = await compose({ tool: 'bash', ...(asJob ? { jobs: {} } : {}) })
    const running = app.run('echo started; sleep 2; echo ended; exit 5', { timeoutMs: 20_000 })
    await later(100)
    for (const [id, reload] of asJob ? [...RELOADS, JOBS] : RELOADS) {
      const row = app.kernel.row(id) as Row
      const { generation } = app.kernel.inspect().rows.find((each) => each.id === id) ?? { generation: 0 }
      await reload(row)
      await app.kernel.settled()
      expect([id, app.kernel.inspect().rows.find((each) => each.id === id)?.generation]).toEqual([id, generation + 1])
    }
    const result = await running
    expect(shown(result)).toBe('started\nended\n[exit code: 5]')
    expect(delivered(result)).toMatchObject({ kind: 'foreground', exitCode: 5, timedOut: false })
    expect(app.warnings).toEqual([])
  })

  it('TL-07 reload of the executor and of the tool, with unchanged texts: nothing is announced, same epoch', async () => {
    app = await compose({ tool: 'bash', jobs: {} })
    await turns()
    const before = app.tools.view()
    const changes: unknown[] = []
    app.tools.changed.on(app.kernel.scope, (change) => {
      changes.push(change)
    })
    for (const [id, reload] of [...RELOADS, JOBS]) {
      await reload(app.kernel.row(id) as Row)
      await app.kernel.settled()
      await turns()
    }
    expect(changes).toEqual([])
    expect(app.tools.view()).toBe(before)
  })

  it('TL-30 calls that arrive while the executor reloads run on the new one', async () => {
    app = await compose({ tool: 'bash' })
    const reloaded = app.kernel.row('local-bash')?.reconfigure({ timeoutMs: 4_321 })
    const result = await app.run('echo hi')
    await reloaded
    expect(delivered(result)).toMatchObject({ kind: 'foreground', timeoutMs: 4_321 })
    expect(shown(result)).toBe('hi\n')
  })
})
