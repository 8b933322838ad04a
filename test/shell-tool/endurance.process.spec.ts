import { readdir } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, shown } from './composition.ts'
import { ScriptedShell } from './scripted-shell.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let app: Composition
afterEach(() => app[Symbol.asyncDispose]())

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('many calls', () => {
  it('TB-26 500 times `printf x` in batches of 20: each is exactly x, and no descriptor is left', async () => {
    app = await compose({ tool: 'bash', jobs: {} })
    await app.run('true')
    const before = (await readdir('/proc/self/fd')).length
    for (let batch = 0; batch < 25; batch++) {
      const texts = (await Promise.all(Array.from({ length: 20 }, () => app.run('printf x')))).map(shown)
      expect(texts).toEqual(Array(20).fill('x'))
    }
    expect(app.jobs.list('host')).toEqual([])
    expect((await readdir('/proc/self/fd')).length).toBeLessThanOrEqual(before + 2)
  })

  it('TB-26 10,000 calls leave no job, timer or heap behind', async () => {
    const shell = new ScriptedShell((run) => run.end())
    app = await compose({ tool: 'pwsh', shell, jobs: {} })
    const calls = async (count: number): Promise<number> => {
      for (let n = 0; n < count; n++) {
        await app.run('x', {}, { onProgress: () => undefined })
        shell.specs.length = 0
        shell.executions.length = 0
        app.events.length = 0
      }
      await turn()
      collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = await calls(2_000)
    const timersBefore = timers()
    const after = await calls(10_000)
    expect(after - before).toBeLessThan(2 * 1024 * 1024)
    expect(timers()).toBeLessThanOrEqual(timersBefore)
    expect(app.jobs.list('host')).toEqual([])
  })
})

describe.each([false, true])('TB-28 progress, as a job: %s', (asJob) => {
  const open = async () => {
    const shell = new ScriptedShell(() => undefined)
    app = await compose({ tool: 'pwsh', shell, ...(asJob ? { jobs: {} } : {}) })
    const seen: { readonly line: string; readonly at: number }[] = []
    const onProgress = (line: string) => {
      seen.push({ line, at: performance.now() })
    }
    return { shell, seen, onProgress }
  }
  const running = async (shell: ScriptedShell) => {
    while (shell.executions[0] === undefined) await turn()
    return shell.executions[0]
  }

  it('TB-28 the newest line, at most four times a second, none after the end', async () => {
    const { shell, seen, onProgress } = await open()
    const call = app.run('x', {}, { onProgress })
    const run = await running(shell)
    const since = performance.now()
    for (let n = 0; performance.now() - since < 1_100; n++) {
      run.stdout.write(`line ${n}\n`)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    run.stderr.write(`${'é'.repeat(300)}`)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(seen.at(-1)?.line).toBe(`${'é'.repeat(199)}…`)
    expect(seen.length).toBeGreaterThanOrEqual(4)
    for (const [index, { at }] of seen.entries()) if (index > 0) expect(at - (seen[index - 1]?.at ?? 0)).toBeGreaterThan(230)
    run.stdout.write('last words\n')
    run.end()
    await call
    const { length } = seen
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(seen).toHaveLength(length)
    expect(run.stdout.asked + run.stderr.asked).toBe(0)
  })

  it('TB-28 nobody asks a reader unless progress was asked for', async () => {
    const { shell } = await open()
    const call = app.run('x')
    const run = await running(shell)
    await turn()
    expect(run.stdout.asked + run.stderr.asked).toBe(0)
    run.end()
    await call
  })
})
