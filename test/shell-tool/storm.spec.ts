import { setTimeout as later } from 'node:timers/promises'
import { Jobs } from '@tenon/jobs'
import jobsPlugin from '@tenon/plugin-jobs'
import toolJobs from '@tenon/plugin-tool-jobs'
import { openSession, type Session } from '@tenon/session'
import type { ToolResult } from '@tenon/tools'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, plugin } from './composition.ts'
import { ScriptedShell } from './scripted-shell.ts'

let app: Composition
afterEach(() => app[Symbol.asyncDispose]())

/** The same numbers in each run. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

describe('a storm', () => {
  it.each([1, 2, 3, 4])(
    'commands, while registry, job tools and sessions come and go: each call answers, no process is left unseen (%i)',
    async (seed) => {
      const roll = random(seed)
      const unhandled: unknown[] = []
      const note = (reason: unknown) => void unhandled.push(reason)
      process.on('unhandledRejection', note)
      const shell = new ScriptedShell((run) => {
        run.stdout.write('some output\n')
        if (roll(4) > 0) setTimeout(() => run.end({ exitCode: roll(3) }), roll(30))
        if (roll(5) === 0) run.stops = () => void setTimeout(() => run.end({ signal: 'SIGKILL' }), 20)
      })
      shell.options = { prepare: () => (roll(3) === 0 ? later(roll(20)) : Promise.resolve()) }
      app = await compose({ tool: 'pwsh', shell })
      const { kernel } = app
      kernel.load(plugin(jobsPlugin), {})
      kernel.load(plugin(toolJobs), {})
      await kernel.settled()

      const sessions: Session[] = [app.session]
      const results: Promise<ToolResult>[] = []
      const flip = (name: string, loaded: object) => {
        const row = kernel.row(name)
        if (row === undefined) kernel.load(plugin(loaded), {})
        else if (roll(2) === 0) row.replace(plugin(loaded)).catch(() => undefined)
        else row.unload().catch(() => undefined)
      }
      for (let step = 0; step < 200; step++) {
        const controller = new AbortController()
        const args = roll(4) === 0 ? { run_in_background: true } : { timeoutMs: 5 + roll(30) }
        results.push(
          app.run('x', args, { signal: controller.signal, session: sessions[roll(sessions.length)] as Session, onProgress: () => undefined }),
        )
        if (roll(5) === 0) setTimeout(() => controller.abort(), roll(30))
        if (roll(20) === 0) flip('jobs', jobsPlugin)
        if (roll(20) === 0) flip('tool-jobs', toolJobs)
        if (roll(15) === 0) sessions.push(openSession(kernel.scope, { id: `s-${step}`, cwd: '/' }))
        if (roll(20) === 0 && sessions.length > 1) void sessions.pop()?.scope.close()
        const jobs = kernel.get(Jobs)
        for (const { id } of roll(8) === 0 ? (jobs?.list('host') ?? []) : []) {
          if (roll(3) === 0) jobs?.promote(id, 'host')
          if (roll(3) === 0) jobs?.kill(id, 'host', { by: 'human', text: 'enough' })
        }
        if (roll(2) === 0) await later(roll(6))
      }
      const finished = await Promise.all(results)
      await kernel.settled()
      // Those that were detached run on by right; all others have ended, or are just being stopped.
      await later(200)
      const live = (kernel.get(Jobs)?.list('host') ?? []).filter(({ finishedAt }) => finishedAt === undefined)
      expect(live.every(({ attachment }) => attachment === 'detached')).toBe(true)
      expect(shell.executions.filter(({ status }) => status === 'running')).toHaveLength(live.length)
      expect(finished).toHaveLength(200)
      const kinds = new Set(finished.map((result) => (result.isError ? result.code : (result.value as { kind: string }).kind)))
      for (const kind of ['foreground', 'background', 'promoted', 'TOOL_ABORTED']) expect(kinds).toContain(kind)
      for (const session of sessions) await session.scope.close()
      await kernel.close()
      expect(shell.executions.filter(({ status }) => status === 'running')).toEqual([])
      for (const { stdout, stderr } of shell.executions) expect(stdout.asked + stderr.asked).toBe(0)
      process.off('unhandledRejection', note)
      expect(unhandled).toEqual([])
    },
  )
})
