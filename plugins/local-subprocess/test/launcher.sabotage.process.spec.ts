import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { isAlive } from './alive.ts'
import { marked } from './marked.ts'
import { openLaunched, textOf } from './open-launched.ts'
import { sh } from './open-provider.ts'
import { random } from './random.ts'

const SPAWNS = 600
const BATCH = 200

const wasLost = ({ facts }: { facts: object | string }): boolean => typeof facts === 'object' && 'lost' in facts && facts.lost === true

/** To a launcher that may have ended meanwhile. */
function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // Then it needs no more.
  }
}

it.each([1, 2])(
  'LN-03 LN-07 600 commands with random aborts while launchers are killed and stopped (%i): each runs once at most, each settles once',
  async (seed) => {
    const opened = await openLaunched()
    const { runtime, subprocess, directory } = opened
    const next = random(seed)
    const warnings: string[] = []
    const note = (warning: Error): void => void warnings.push(warning.message)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const ran = join(directory, 'ran')
    appendFileSync(ran, '')
    let isOver = false
    let losses = 0
    const sabotage = (async () => {
      while (!isOver) {
        await setTimeout(50 + next() * 200)
        const { pid } = runtime.launcher
        if (pid === undefined) {
          // A crash loop ends with the next activation.
          runtime.adopt(runtime.settings, runtime.warnings.log)
          continue
        }
        const isStopped = next() < 0.3
        if (isStopped) send(pid, 'SIGSTOP')
        if (isStopped) await setTimeout(next() * 300)
        send(pid, isStopped && next() < 0.5 ? 'SIGCONT' : 'SIGKILL')
        losses++
      }
    })()
    const one = async (index: number) => {
      await setTimeout(next() * 1_500)
      const abort = new AbortController()
      const handle = subprocess.spawn(
        sh(`echo ${index} >> ${ran}; echo ${index}; exec sleep ${next() < 0.5 ? '0' : '0.3'}`, { signal: abort.signal }),
      )
      if (next() < 0.4) {
        await setTimeout(next() * 20)
        abort.abort()
      }
      const facts = await handle.done.catch(({ code }: { code: string }) => code)
      expect(await handle.waitForExit(AbortSignal.timeout(30_000))).toBe(true)
      expect(await handle.started).toBe(typeof facts === 'object')
      expect(handle.pid === undefined || !isAlive(handle.pid)).toBe(true)
      if (typeof facts === 'object' && facts.exitCode === 0) expect(textOf(handle)).toBe(`${index}\n`)
      return { index, facts }
    }
    const results: Awaited<ReturnType<typeof one>>[] = []
    // On a busy machine a new launcher takes as long as many commands: they go on until enough have met with one that was lost.
    while (results.length < SPAWNS || losses < 3 || !results.some(wasLost)) {
      results.push(...(await Promise.all(Array.from({ length: BATCH }, (_, at) => one(results.length + at)))))
    }
    isOver = true
    await sabotage
    const begun = readFileSync(ran, 'utf8').split('\n').slice(0, -1).map(Number)
    expect(new Set(begun).size).toBe(begun.length)
    const refused = results.filter(({ facts }) => typeof facts === 'string')
    // Whether an abort comes in time is a matter of the machine.
    expect(refused.filter(({ facts }) => facts !== 'ABORTED_BEFORE_SPAWN')).toEqual([])
    expect(refused.filter(({ index }) => begun.includes(index))).toEqual([])
    const known = results.filter(({ facts }) => typeof facts === 'object' && facts.exitCode === 0)
    expect(known.filter(({ index }) => !begun.includes(index))).toEqual([])
    expect(known.length).toBeGreaterThan(SPAWNS / 4)
    await expect.poll(() => [runtime.live.size, runtime.starting.size, runtime.open.size]).toEqual([0, 0, 0])
    expect(warnings).toEqual([])
    expect(await marked(runtime.nonce)).toEqual([])
    await runtime.launcher.idle()
    await runtime.channels.stock.idle()
    expect(readdirSync(runtime.directory.path()).filter((name) => !/^owner\.json$|^\d+\.fifo$/.test(name))).toEqual([])
  },
)
