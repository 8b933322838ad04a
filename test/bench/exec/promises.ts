import type { Finding } from '../measuring/report.ts'
import { pairedRatios, percentile, summarize } from '../measuring/statistics.ts'
import type { floods } from './floods.ts'
import { measure } from './measure.ts'
import type { Latencies } from './starts.ts'

/** How much of everything: few and small for a trial of the bench itself. */
export interface Extent {
  readonly rounds: number
  readonly programsPerRound: number
  readonly floodBytes: number
  readonly floodRuns: number
  readonly singleBytes: number
  readonly idleCount: number
  readonly idleMs: number
  readonly treeRounds: number
  readonly longBytes: number
}

const MIB = 1024 ** 2
export const FULL: Extent = {
  rounds: 25,
  programsPerRound: 160,
  floodBytes: 1024 * MIB,
  floodRuns: 7,
  singleBytes: 300_000,
  idleCount: 500,
  idleMs: 10_000,
  treeRounds: 15,
  longBytes: 64 * MIB,
}
export const TRIAL: Extent = {
  rounds: 2,
  programsPerRound: 32,
  floodBytes: 32 * MIB,
  floodRuns: 1,
  singleBytes: 20_000,
  idleCount: 20,
  idleMs: 500,
  treeRounds: 1,
  longBytes: 4 * MIB,
}

/** What the execution of commands promises of its speed and memory, each measured in this run. */
export async function execFindings(extent: Extent, progress: (what: string) => void): Promise<Finding[]> {
  const sections = { starts, throughput, floodsTaken, singleBytes, idleChildren, trees, deltas }
  const findings: Finding[] = []
  for (const [name, section] of Object.entries(sections)) {
    progress(name)
    findings.push(...(await section(extent)))
  }
  return findings
}

async function starts({ rounds }: Extent): Promise<Finding[]> {
  return [
    ...latencyFindings('spawn → done of `true`', await measure('programs', rounds), 1.1),
    ...latencyFindings('execute → result() of `bash -c true`', await measure('shells', rounds), 1.15),
  ]
}

function latencyFindings(what: string, series: Latencies, bound: number): Finding[] {
  const of = (system: string): readonly number[] => series[system]?.rounds ?? []
  return [
    atMost(bound, `${what}, p50 over bare child_process`, pairedRatios(of('tenon'), of('bare')), 'x'),
    ...Object.entries(series).flatMap(([system, { rounds, all }]) => [
      told(`${what}, p50: ${system}`, rounds, 'ms'),
      told(`${what}, p99: ${system}`, [percentile(all, 0.99)], 'ms'),
    ]),
  ]
}

async function throughput({ programsPerRound, rounds }: Extent): Promise<Finding[]> {
  const series = await measure('throughputs', programsPerRound, Math.ceil(rounds / 3))
  return Object.entries(series).map(([system, values]) => told(`16 at a time: ${system}`, values, '/s'))
}

type FloodName = keyof typeof floods

async function byTurns(names: readonly FloodName[], size: number, runs: number) {
  const figures = new Map(names.map((name) => [name, { ms: [] as number[], rss: [] as number[], delay: [] as number[] }]))
  for (let run = 0; run < runs; run++) {
    for (const name of names) {
      const { ms, rss, delay } = await measure(name, size)
      const of = figures.get(name)
      of?.ms.push(ms)
      of?.rss.push(rss)
      of?.delay.push(delay)
    }
  }
  return (name: FloodName, figure: 'ms' | 'rss' | 'delay'): readonly number[] => figures.get(name)?.[figure] ?? []
}

async function floodsTaken({ floodBytes, floodRuns }: Extent): Promise<Finding[]> {
  const of = await byTurns(['bare', 'tail', 'shellTail', 'file', 'spill', 'shellSpill'], floodBytes, floodRuns)
  const size = `${floodBytes / MIB} MiB`
  const speed = (name: FloodName): readonly number[] => of(name, 'ms').map((ms) => floodBytes / MIB / (ms / 1_000))
  const taken = (name: FloodName, what: string, bound: number, against: FloodName, mebibytes: number): Finding[] => [
    atLeast(
      bound,
      `${size}, ${what}: throughput over ${against === 'bare' ? 'bare, discarded' : '`cmd > file`'}`,
      pairedRatios(of(against, 'ms'), of(name, 'ms')),
      'x',
    ),
    told(`${size}, ${what}: throughput`, speed(name), 'MiB/s'),
    atMost(mebibytes, `${size}, ${what}: memory of the host`, of(name, 'rss'), 'MiB'),
    atMost(5, `${size}, ${what}: event-loop delay, p99`, of(name, 'delay'), 'ms', '<'),
  ]
  return [
    ...taken('tail', 'subprocess, tail only', 1, 'bare', 8),
    ...taken('shellTail', 'shell, tail only', 1, 'bare', 16),
    ...taken('spill', 'subprocess, all in a file', 0.6, 'file', 16),
    ...taken('shellSpill', 'shell, all in a file', 0.6, 'file', 16),
    told(`${size}, bare, discarded: throughput`, speed('bare'), 'MiB/s'),
    told(`${size}, bare, discarded: memory of the host`, of('bare', 'rss'), 'MiB'),
    told(`${size}, bare, discarded: event-loop delay, p99`, of('bare', 'delay'), 'ms'),
    told(`${size}, \`cmd > file\`: throughput`, speed('file'), 'MiB/s'),
  ]
}

async function singleBytes({ singleBytes: count, floodRuns }: Extent): Promise<Finding[]> {
  const of = await byTurns(['bytesBare', 'bytes'], count, floodRuns)
  const what = `${count.toLocaleString('en')} writes of one byte`
  return [
    atMost(1.2, `${what}: time over bare, discarded`, pairedRatios(of('bytes', 'ms'), of('bytesBare', 'ms')), 'x'),
    told(what, of('bytes', 'ms'), 'ms'),
  ]
}

async function idleChildren({ idleCount, idleMs }: Extent): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, what] of [
    ['idleSubprocess', 'subprocess'],
    ['idleShell', 'shell'],
  ] as const) {
    const { cpu, heap } = await measure(name, idleCount, idleMs)
    findings.push(atMost(1, `${idleCount} idle children, ${what}: of one processor`, [cpu], '%', '<'))
    findings.push(atMost(20, `${idleCount} idle children, ${what}: heap each`, [heap], 'KiB', '<'))
  }
  return findings
}

async function trees({ treeRounds }: Extent): Promise<Finding[]> {
  const { tenon = [], bare = [], zx = [] } = await measure('treeKills', treeRounds)
  return [
    told('end a tree of 50 processes, and know that it is gone: tenon', tenon, 'ms'),
    told('end the group of 50 processes, and know that its leader is gone: bare', bare, 'ms'),
    told('end a tree of 50 processes, and know that its leader is gone: zx', zx, 'ms'),
  ]
}

/** What a read of 4 KiB costs at the end of a long stream; anything near 1 is in proportion to the delta. */
async function deltas({ longBytes, rounds }: Extent): Promise<Finding[]> {
  const { short, long } = await measure('reads', longBytes, rounds)
  return [
    atMost(1.5, `readOutput of 4 KiB: at ${longBytes / MIB} MiB over at 128 KiB`, pairedRatios(long, short), 'x'),
    told(`readOutput of 4 KiB at ${longBytes / MIB} MiB`, long, 'µs'),
  ]
}

function atLeast(bound: number, what: string, sample: readonly number[], unit: string): Finding {
  const measured = summarize(sample)
  return { what, measured, unit, target: { text: `≥ ${bound}${unit}`, met: measured.median >= bound } }
}

function atMost(bound: number, what: string, sample: readonly number[], unit: string, sign: '≤' | '<' = '≤'): Finding {
  const measured = summarize(sample)
  const met = sign === '<' ? measured.median < bound : measured.median <= bound
  return { what, measured, unit, target: { text: `${sign} ${bound}${unit === 'x' ? '' : ' '}${unit}`, met } }
}

function told(what: string, sample: readonly number[], unit: string): Finding {
  return { what, measured: summarize(sample), unit }
}
