import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { execa } from 'execa'
import { launcherOf } from '../../launcher-of.ts'
import { bare } from '../exec/systems.ts'
import { measureInChild } from '../measuring/child.ts'
import { summarize } from '../measuring/statistics.ts'
import { withBash } from '../tools/compositions.ts'
import { bootProvider, collecting, openProvider } from './launched.ts'

const CALLS_PER_ROUND = 10

export type Rounds = Readonly<Record<string, number[]>>

/** Memory in use, outside the heap. */
function ballast(mebibytes: number): Buffer {
  return Buffer.alloc(mebibytes * 1024 ** 2, 1)
}

/** Milliseconds from the call to the outcome, the median of each round. */
async function latencies(mebibytes: number, rounds: number): Promise<Rounds> {
  const held = ballast(mebibytes)
  await using launched = await openProvider('process')
  await using hosted = await openProvider('host')
  const series = await byTurns(rounds, {
    bare: () => bare(['true']),
    execa: () => execa('true'),
    host: () => hosted.subprocess.spawn(collecting(['true'])).done,
    tenon: () => launched.subprocess.spawn(collecting(['true'])).done,
  })
  return kept(series, held)
}

/** The same for a shell and, on the side of Tenon, for the whole of a tool call. */
async function toolCalls(mebibytes: number, rounds: number): Promise<Rounds> {
  const held = ballast(mebibytes)
  const composition = await withBash()
  const series = await byTurns(rounds, {
    bare: () => bare(['bash', '--norc', '-c', 'true']),
    tenon: () => composition.call('bash', { command: 'true', description: 'does nothing' }),
  })
  await composition.close()
  return kept(series, held)
}

/** Milliseconds for which one start blocks the event loop, every single one. */
async function blocking(mebibytes: number, starts: number): Promise<Rounds> {
  const held = ballast(mebibytes)
  await using launched = await openProvider('process')
  const series: Record<string, number[]> = { bare: [], tenon: [] }
  for (let start = -20; start < starts; start++) {
    let began = performance.now()
    const handle = launched.subprocess.spawn(collecting(['true']))
    if (start >= 0) series.tenon?.push(performance.now() - began)
    await handle.done
    if (start % 10 !== 0) continue
    began = performance.now()
    const child = spawn('true', { stdio: ['ignore', 'pipe', 'pipe'] })
    if (start >= 0) series.bare?.push(performance.now() - began)
    await new Promise((resolve) => child.once('close', resolve))
  }
  return kept(series, held)
}

/** Programs per second, 16 at a time; one value a round. */
async function throughputs(count: number, rounds: number): Promise<Rounds> {
  await using launched = await openProvider('process')
  const systems = { bare: () => bare(['true']), tenon: () => launched.subprocess.spawn(collecting(['true'])).done }
  const series: Record<string, number[]> = { bare: [], tenon: [] }
  for (let round = -1; round < rounds; round++) {
    for (const [name, run] of Object.entries(systems)) {
      let left = count
      const work = async (): Promise<void> => {
        while (left-- > 0) await run()
      }
      const began = performance.now()
      await Promise.all(Array.from({ length: 16 }, work))
      if (round >= 0) series[name]?.push((count / (performance.now() - began)) * 1_000)
    }
  }
  return series
}

/** Milliseconds from the boot to the end of the first command: once in this process. */
async function first(launcher: 'process' | 'host'): Promise<number> {
  const began = performance.now()
  await using provider = await bootProvider(launcher)
  await provider.subprocess.spawn(collecting(['true'])).done
  return performance.now() - began
}

/** MiB that the launcher has resident, early and after many starts. */
async function memory(starts: number): Promise<{ readonly early: number; readonly late: number }> {
  await using launched = await openProvider('process')
  const launcher = await launcherOf(launched.subprocess)
  const run = async (count: number): Promise<number> => {
    for (let start = 0; start < count; start += 4)
      await Promise.all(Array.from({ length: 4 }, () => launched.subprocess.spawn(collecting(['true'])).done))
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${launcher}/status`, 'utf8'))?.[1]) / 1024
  }
  return { early: await run(starts / 10), late: await run(starts - starts / 10) }
}

async function byTurns(rounds: number, systems: Readonly<Record<string, () => Promise<unknown>>>): Promise<Rounds> {
  const series = Object.fromEntries(Object.keys(systems).map((name) => [name, [] as number[]]))
  for (let round = -1; round < rounds; round++) {
    const values = Object.fromEntries(Object.keys(systems).map((name) => [name, [] as number[]]))
    for (let call = 0; call < CALLS_PER_ROUND; call++) {
      for (const [name, run] of Object.entries(systems)) {
        const began = performance.now()
        await run()
        values[name]?.push(performance.now() - began)
      }
    }
    if (round >= 0) for (const [name, of] of Object.entries(values)) series[name]?.push(summarize(of).median)
  }
  return series
}

/** The ballast has to be there to the end. */
function kept(series: Rounds, held: Buffer): Rounds {
  if (held.length > 0 && held[held.length - 1] !== 1) throw new Error('the ballast is gone')
  return series
}

const measurements = {
  latencies,
  toolCalls,
  blocking,
  throughputs,
  firstThroughLauncher: () => first('process'),
  firstInHost: () => first('host'),
  memory,
} as const

type Measurements = typeof measurements

/** Takes one measurement in a process of its own. */
export function measure<N extends keyof Measurements>(name: N, ...sizes: Parameters<Measurements[N]>): Promise<Awaited<ReturnType<Measurements[N]>>> {
  return measureInChild(['in-child', name, ...sizes.map(String)])
}

/** What a child does. */
export function inChild([name = '', ...sizes]: readonly string[]): Promise<unknown> {
  const measurement = measurements[name as keyof Measurements] as ((...sizes: number[]) => Promise<unknown>) | undefined
  if (measurement === undefined) throw new Error(`no measurement ${JSON.stringify(name)}`)
  return measurement(...sizes.map(Number))
}
