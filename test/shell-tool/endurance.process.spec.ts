import { readdir } from 'node:fs/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { type Composition, compose, played, shown } from './composition.ts'
import { ScriptedShell } from './scripted-shell.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

let app: Composition
afterEach(() => app[Symbol.asyncDispose]())

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe.each(['bash', 'pwsh'] as const)('many calls of %s', (tool) => {
  it('TB-26 hundreds of `printf x` in batches of 20: each is exactly x, and no descriptor is left', async () => {
    app = await compose({ tool, jobs: {} })
    const print = played(tool, { do: 'print', text: 'x' })
    await app.run(print)
    const before = (await readdir('/proc/self/fd')).length
    // The stand-in for PowerShell takes ten times as long to start.
    for (let batch = 0; batch < (tool === 'bash' ? 25 : 5); batch++) {
      const texts = (await Promise.all(Array.from({ length: 20 }, () => app.run(print)))).map(shown)
      expect(texts).toEqual(Array(20).fill('x'))
    }
    expect(app.jobs.list('host')).toEqual([])
    // Those of the last ones go at the end of the turn.
    await expect.poll(async () => (await readdir('/proc/self/fd')).length).toBeLessThanOrEqual(before + 2)
  })

  it('TB-26 10,000 calls leave no job, timer or heap behind', async () => {
    const shell = new ScriptedShell((run) => run.end())
    app = await compose({ tool, shell, jobs: {} })
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

  it.each(['changed', 'readFrom'] as const)('TB-28 a reader whose %s fails ends the reports, and nothing else', async (verb) => {
    const { shell, seen, onProgress } = await open()
    const call = app.run('x', {}, { onProgress })
    const run = await running(shell)
    run.stdout.write('first\n')
    while (seen.length === 0) await turn()
    const fails = () => {
      throw new Error('no disk')
    }
    Object.assign(run.stdout, { [verb]: verb === 'changed' ? async () => fails() : fails })
    run.stdout.write('second\n')
    await new Promise((resolve) => setTimeout(resolve, 300))
    run.end()
    expect((await call).isError).toBe(false)
    expect(seen.map(({ line }) => line)).toEqual(['first'])
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

it.each(['bash', 'pwsh'] as const)('TB-28 %s, on real processes: the newest line of either stream, at most four times a second', async (tool) => {
  app = await compose({ tool, jobs: {} })
  const seen: { readonly line: string; readonly at: number }[] = []
  const onProgress = (line: string) => void seen.push({ line, at: performance.now() })
  const lines = Array.from({ length: 60 }, (_, n) => [{ do: 'print', text: `line ${n}\n` } as const, { do: 'sleep', ms: 20 } as const])
  const warning = { do: 'print', text: 'a warning\n', to: 'stderr' } as const
  const result = await app.run(played(tool, ...lines.flat(), warning, { do: 'sleep', ms: 600 }), {}, { onProgress })
  const { length } = seen
  expect(shown(result)).toContain('line 59\n[stderr]\na warning')
  expect(seen.at(-1)?.line).toBe('a warning')
  expect(seen.filter(({ line }) => /^line \d+$/.test(line)).length).toBeGreaterThanOrEqual(4)
  for (const [index, { at }] of seen.entries()) if (index > 0) expect(at - (seen[index - 1]?.at ?? 0)).toBeGreaterThan(230)
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(seen).toHaveLength(length)
})
