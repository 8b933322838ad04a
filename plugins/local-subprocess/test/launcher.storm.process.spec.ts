import { getEventListeners } from 'node:events'
import { appendFileSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isAlive } from './alive.ts'
import { openLaunched, saidAs, textOf } from './open-launched.ts'
import { sh, spec } from './open-provider.ts'
import { random } from './random.ts'

const SPAWNS = 1_000

/** What the descriptors of a process lead to, less what its memory has to itself. */
function descriptorsOf(pid: number | 'self'): string[] {
  return readdirSync(`/proc/${pid}/fd`)
    .map((descriptor) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${descriptor}`)
      } catch {
        return ''
      }
    })
    .filter((target) => /fifo|socket:|pipe:/.test(target))
}

it.each([1, 2])(
  'LN-07 1,000 concurrent spawns, aborted at random before, during and after the start (%i): each starts once at most and settles once',
  async (seed) => {
    const opened = await openLaunched()
    const { subprocess, runtime, launcher, directory } = opened
    const next = random(seed)
    const ran = join(directory, 'ran')
    appendFileSync(ran, '')
    await subprocess.spawn(sh('true')).done
    await runtime.channels.stock.idle()
    // Those of the command go at the end of the turn.
    await new Promise((resolve) => setImmediate(resolve))
    const before = { host: descriptorsOf('self').length, launcher: descriptorsOf(launcher).length }
    const shared = new AbortController()
    const settlements = new Map<number, string[]>()
    const one = async (index: number) => {
      const abort = new AbortController()
      const when = next()
      if (when < 0.1) abort.abort(index)
      // An append of one line is atomic: `ran` counts how often each has begun.
      const script = `echo ${index} >> ${ran}; echo ${index}; exec sleep ${next() < 0.5 ? '0' : '0.2'}`
      const signal = index % 3 === 0 ? AbortSignal.any([shared.signal, abort.signal]) : abort.signal
      const handle = subprocess.spawn(
        sh(script, { signal, stdin: index % 5 === 0 ? { data: 'x' } : 'ignore', stdout: index % 7 === 0 ? 'pipe' : { maxBytes: 4_096 } }),
      )
      handle.stdout?.resume()
      const turns = when < 0.3 ? 0 : Math.floor(next() * 400)
      if (when < 0.6) {
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
        if (when < 0.45) abort.abort(index)
        else handle.terminate()
      }
      const settled: string[] = []
      settlements.set(index, settled)
      const facts = await handle.done.then(
        (value) => {
          settled.push('told')
          return value
        },
        (error: { code: string }) => {
          settled.push(error.code)
          return undefined
        },
      )
      expect(await handle.started).toBe(facts !== undefined)
      expect(handle.pid === undefined).toBe(facts === undefined)
      expect(facts?.lost).toBeUndefined()
      expect(await handle.waitForExit(AbortSignal.timeout(30_000))).toBe(true)
      if (facts?.exitCode === 0 && handle.stdout === undefined) expect(textOf(handle)).toBe(`${index}\n`)
      return { index, started: facts !== undefined }
    }
    const results = await Promise.all(Array.from({ length: SPAWNS }, (_, index) => one(index)))
    const begun = readFileSync(ran, 'utf8').split('\n').slice(0, -1).map(Number)
    // Once at most, and never one that was told not to have started.
    expect(new Set(begun).size).toBe(begun.length)
    const refused = new Set(results.filter(({ started }) => !started).map(({ index }) => index))
    expect(begun.filter((index) => refused.has(index))).toEqual([])
    expect([...settlements.values()].filter((settled) => settled.length !== 1)).toEqual([])
    expect([...new Set([...settlements.values()].flat())].sort()).toEqual(['ABORTED_BEFORE_SPAWN', 'told'])
    expect(refused.size).toBeGreaterThan(100)
    expect(begun.length).toBeGreaterThan(300)
    // Nothing is left on either side.
    expect([runtime.live.size, runtime.starting.size, getEventListeners(shared.signal, 'abort').length]).toEqual([0, 0, 0])
    await expect.poll(() => runtime.open.size).toBe(0)
    await runtime.channels.stock.idle()
    await expect.poll(() => descriptorsOf('self').length).toBeLessThanOrEqual(before.host)
    await expect.poll(() => descriptorsOf(launcher).length).toBeLessThanOrEqual(before.launcher)
    const names = readdirSync(runtime.directory.path())
    expect(names.filter((name) => !/^\d+\.fifo$/.test(name))).toEqual(['owner.json'])
    expect(names.length - 1).toBe(runtime.channels.stock.size)
    expect([runtime.launcher.pid, saidAs(opened, 'warn')]).toEqual([launcher, []])
  },
)

it('LN-07 LN-04 an abort at every moment of a start: it ran, or it never will', async () => {
  const { subprocess, directory, runtime } = await openLaunched()
  const outcomes = new Set<string>()
  for (let round = 0; round < 120; round++) {
    const ran = join(directory, `ran.${round}`)
    const handle = subprocess.spawn(sh(`: > ${ran}; exec sleep 600`, { graceMs: 10_000 }))
    const until = performance.now() + (round % 40) / 4
    while (performance.now() < until) await new Promise((resolve) => setImmediate(resolve))
    handle.terminate()
    const outcome = await handle.done.then(
      ({ signal }) => String(signal),
      ({ code }: { code: string }) => code,
    )
    outcomes.add(outcome)
    expect(await handle.waitForExit(AbortSignal.timeout(10_000))).toBe(true)
    if (outcome === 'ABORTED_BEFORE_SPAWN') expect(readdirSync(directory)).not.toContain(`ran.${round}`)
    else expect([outcome, isAlive(handle.pid ?? 0)]).toEqual(['SIGTERM', false])
  }
  expect([...outcomes].sort()).toEqual(['ABORTED_BEFORE_SPAWN', 'SIGTERM'])
  expect([runtime.live.size, runtime.starting.size]).toEqual([0, 0])
})

it('LN-07 the launcher keeps nothing of 2,000 commands that are gone', async () => {
  const { subprocess, launcher } = await openLaunched()
  const residentKib = (): number => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${launcher}/status`, 'utf8'))?.[1])
  const many = async (count: number): Promise<void> => {
    for (let done = 0; done < count; done += 20) await Promise.all(Array.from({ length: 20 }, () => subprocess.spawn(spec(['true'])).done))
  }
  await many(400)
  const [warm, descriptors] = [residentKib(), descriptorsOf(launcher).length]
  await many(1_600)
  expect(residentKib()).toBeLessThan(50 * 1_024)
  expect(residentKib() - warm).toBeLessThan(2 * 1_024)
  await expect.poll(() => descriptorsOf(launcher).length).toBeLessThanOrEqual(descriptors)
})
