import type { Finding } from '../measuring/report.ts'
import { pairedRatios, percentile, summarize } from '../measuring/statistics.ts'
import { atMostTimes, told } from '../measuring/verdicts.ts'
import { measure } from './measure.ts'

/** How much of everything: few and small for a trial of the bench itself. */
export interface Extent {
  /** MiB; the first is none, the second is judged. */
  readonly ballasts: readonly [number, number, ...number[]]
  readonly rounds: number
  /** In a host with ballast, where each bare start takes long. */
  readonly slowRounds: number
  readonly starts: number
  readonly programsPerRound: number
  readonly boots: number
  readonly memoryStarts: number
}

export const FULL: Extent = {
  ballasts: [0, 512, 2048],
  rounds: 25,
  slowRounds: 7,
  starts: 1_000,
  programsPerRound: 160,
  boots: 15,
  memoryStarts: 10_000,
}
export const TRIAL: Extent = { ballasts: [0, 64], rounds: 2, slowRounds: 2, starts: 20, programsPerRound: 32, boots: 2, memoryStarts: 100 }

/** What the launcher promises of its speed and memory, each measured in this run. */
export async function launchFindings(extent: Extent, progress: (what: string) => void): Promise<Finding[]> {
  const sections = { blocking, programs, throughput, tools, boots, memory }
  const findings: Finding[] = []
  for (const [name, section] of Object.entries(sections)) {
    progress(name)
    findings.push(...(await section(extent)))
  }
  return findings
}

async function blocking({ ballasts, starts }: Extent): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const mebibytes of ballasts) {
    const { tenon = [], bare = [] } = await measure('blocking', mebibytes, starts)
    const what = `event loop blocked by a start, ${ballastText(mebibytes)}`
    findings.push(atMost(0.15, 'ms', `${what}: p50`, summarize(tenon).median))
    findings.push(atMost(1, 'ms', `${what}: p99`, percentile(tenon, 0.99)))
    findings.push(told(`${what}: bare`, bare, 'ms'))
  }
  return findings
}

async function programs({ ballasts, rounds, slowRounds }: Extent): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [index, mebibytes] of ballasts.entries()) {
    const { tenon = [], bare = [], ...others } = await measure('latencies', mebibytes, index === 0 ? rounds : slowRounds)
    const what = `spawn → done of \`true\`, ${ballastText(mebibytes)}`
    findings.push(atMostTimes(index === 0 ? 0.95 : 0.1, `${what}, p50 over bare`, tenon, bare))
    for (const [name, of] of Object.entries({ tenon, bare, ...others })) findings.push(told(`${what}: ${name}`, of, 'ms'))
  }
  return findings
}

async function throughput({ programsPerRound, rounds }: Extent): Promise<Finding[]> {
  const { tenon = [], bare = [] } = await measure('throughputs', programsPerRound, Math.ceil(rounds / 2))
  const measured = summarize(pairedRatios(tenon, bare))
  return [
    { what: '16 at a time: starts a second, over bare', measured, unit: 'x', target: { text: '≥ 1.4x', met: measured.median >= 1.4 } },
    told('16 at a time: tenon', tenon, '/s'),
    told('16 at a time: bare', bare, '/s'),
  ]
}

async function tools({ ballasts: [none, some], rounds, slowRounds }: Extent): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [mebibytes, bound, count] of [
    [none, 1.05, rounds],
    [some, 0.1, slowRounds],
  ] as const) {
    const { tenon = [], bare = [] } = await measure('toolCalls', mebibytes, count)
    const what = `bash tool call of \`true\`, with jobs, ${ballastText(mebibytes)}`
    findings.push(atMostTimes(bound, `${what}, over a bare \`bash -c true\``, tenon, bare), told(what, tenon, 'ms'))
  }
  return findings
}

/** The launcher is not waited for; it is made while the first command runs. */
async function boots({ boots: count }: Extent): Promise<Finding[]> {
  const [launched, hosted]: [number[], number[]] = [[], []]
  for (let boot = 0; boot < count; boot++) {
    launched.push(await measure('firstThroughLauncher'))
    hosted.push(await measure('firstInHost'))
  }
  const what = 'boot and first command'
  return [
    atMostTimes(1.05, `${what}: with a launcher over without`, launched, hosted),
    told(`${what}: with a launcher`, launched, 'ms'),
    told(`${what}: without`, hosted, 'ms'),
  ]
}

async function memory({ memoryStarts }: Extent): Promise<Finding[]> {
  const { early, late } = await measure('memory', memoryStarts)
  return [
    atMost(50, 'MiB', `the launcher's resident memory after ${memoryStarts.toLocaleString('en')} starts`, late),
    atMost(2, 'MiB', `the same, more than after ${(memoryStarts / 10).toLocaleString('en')}`, late - early),
  ]
}

function ballastText(mebibytes: number): string {
  return mebibytes === 0 ? 'no ballast' : `${mebibytes} MiB of ballast`
}

function atMost(bound: number, unit: string, what: string, value: number): Finding {
  return { what, measured: summarize([value]), unit, target: { text: `≤ ${bound} ${unit}`, met: value <= bound } }
}
