import type { Finding } from '../measuring/report.ts'
import { pairedRatios } from '../measuring/statistics.ts'
import { atMostTimes, below, exactly, told } from '../measuring/verdicts.ts'
import { measure, type Series } from './measure.ts'

/** How much of everything: few and small for a trial of the bench itself. */
export interface Extent {
  readonly rounds: number
  readonly calls: number
  readonly lookups: number
  readonly tools: number
  readonly sections: number
  /** Commands on real processes, per round. */
  readonly commands: number
  /** In a row, for the heap. */
  readonly realCommands: number
  readonly instantCommands: number
  readonly few: number
  readonly many: number
  readonly idleMs: number
  readonly records: number
}

export const FULL: Extent = {
  rounds: 21,
  calls: 10_000,
  lookups: 5_000_000,
  tools: 200,
  sections: 100,
  commands: 20,
  realCommands: 10_000,
  instantCommands: 10_000,
  few: 10,
  many: 1_000,
  idleMs: 60_000,
  records: 10_000,
}
export const TRIAL: Extent = {
  rounds: 2,
  calls: 1_000,
  lookups: 1_000,
  tools: 20,
  sections: 10,
  commands: 2,
  realCommands: 16,
  instantCommands: 100,
  few: 5,
  many: 20,
  idleMs: 200,
  records: 100,
}

/** What is promised of tools and jobs, each measured in this run; the order is that of the report. */
export async function toolFindings(extent: Extent, progress: (what: string) => void): Promise<Finding[]> {
  const sections = [pipeline, catalogue, prompt, commands, registry, crowds, following, idle, memory]
  const findings: Finding[] = []
  for (const section of sections) {
    progress(section.name)
    findings.push(...(await section(extent)))
  }
  return findings
}

async function pipeline({ rounds, calls, tools }: Extent): Promise<Finding[]> {
  const series = await measure('pipeline', rounds, calls, tools)
  return [
    below(100, 'µs', `pipeline: cost of a call with ${tools} tools`, of(series, 'many')),
    atMostTimes(1.2, `pipeline: a call with ${tools} tools over one with a single tool`, of(series, 'many'), of(series, 'one')),
  ]
}

async function catalogue({ rounds, lookups, tools }: Extent): Promise<Finding[]> {
  const found = await measure('lookups', rounds, lookups, tools)
  const changed = await measure('conversions', rounds, tools)
  return [
    below(5, 'µs', `get, of ${tools} tools`, of(found, 'get')),
    below(1, 'µs', `view of ${tools} tools, unchanged`, of(found, 'view')),
    exactly(1, 'schemas', `one of ${tools} tools changed: input schemas converted`, of(changed, 'converted')),
    told(`one of ${tools} tools changed: time to the next view`, of(changed, 'us'), 'µs'),
  ]
}

async function prompt({ rounds, lookups, sections }: Extent): Promise<Finding[]> {
  const series = await measure('assembly', rounds, Math.ceil(lookups / 10), sections)
  return [below(5, 'µs', `assembly of ${sections} unchanged static sections`, of(series, 'assembly'))]
}

async function commands({ rounds, commands: calls }: Extent): Promise<Finding[]> {
  const series = await measure('bash', rounds, calls)
  return [
    atMostTimes(1.25, 'bash tool, `true` as a job, over a bare spawn with collected output', of(series, 'tool'), of(series, 'bare')),
    told('the executor alone, over a bare spawn with collected output', pairedRatios(of(series, 'executor'), of(series, 'bare')), 'x'),
    told('bash tool, `true` as a job', inMilliseconds(of(series, 'tool')), 'ms'),
    told('bare spawn of `true` with collected output', inMilliseconds(of(series, 'bare')), 'ms'),
  ]
}

async function registry({ rounds, calls }: Extent): Promise<Finding[]> {
  const series = await measure('overBareExecute', rounds, calls)
  const [job, bare] = [of(series, 'job'), of(series, 'bare')]
  const difference = job.map((us, index) => us - (bare[index] ?? Number.NaN))
  return [below(150, 'µs', 'job: start, settle and remove over a bare execute', difference)]
}

async function crowds({ rounds, calls, few, many }: Extent): Promise<Finding[]> {
  const series = await measure('crowds', rounds, Math.ceil(calls / 50), few, many)
  return [
    below(2, 'ms', `list of ${many} live jobs`, inMilliseconds(of(series, 'list'))),
    atMostTimes(1.2, `kill among ${many} live jobs over kill among ${few}`, of(series, 'many'), of(series, 'few')),
    told(`kill among ${many} live jobs`, of(series, 'many'), 'µs'),
    exactly(0, 'timers', `${many} idle jobs: timers`, of(series, 'timers')),
    exactly(0, 'readers', `${many} unfollowed jobs: readers that are asked`, of(series, 'asked')),
  ]
}

async function following({ rounds, calls }: Extent): Promise<Finding[]> {
  const series = await measure('latency', rounds, calls)
  return [
    below(2, 'ms', "follow: a reader's change to the follower's item, 99th percentile", of(series, 'p99')),
    told("follow: a reader's change to the follower's item, median", of(series, 'p50'), 'ms'),
  ]
}

async function idle({ few, idleMs }: Extent): Promise<Finding[]> {
  const jobs = few * 2
  const series = await measure('idleCommands', jobs, idleMs)
  return [below(0.1, '%', `${jobs} idle commands for ${idleMs / 1_000} s: part of a core`, of(series, 'percent'))]
}

async function memory({ realCommands, instantCommands, records }: Extent): Promise<Finding[]> {
  const real = await measure('realCommandHeap', realCommands)
  const instant = await measure('foregroundHeap', instantCommands)
  const kept = await measure('keptRecords', records)
  return [
    below(2_048, 'KiB', `heap left by ${realCommands} bash calls of \`true\``, of(real, 'kibibytes')),
    below(2_048, 'KiB', `heap left by ${instantCommands} foreground calls on an instant executor`, of(instant, 'kibibytes')),
    below(2, 'KiB', 'a settled record, beside its readers', of(kept, 'kibibytes')),
  ]
}

/** From microseconds. */
function inMilliseconds(sample: readonly number[]): number[] {
  return sample.map((us) => us / 1_000)
}

function of(series: Series, name: string): readonly number[] {
  return series[name] ?? []
}
