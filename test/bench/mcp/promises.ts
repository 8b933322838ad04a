import type { Finding } from '../measuring/report.ts'
import { pairedRatios, percentile } from '../measuring/statistics.ts'
import { atMostTimes, told } from '../measuring/verdicts.ts'
import { measure, type Series } from './measure.ts'

/** How much of everything: few and small for a trial of the bench itself. */
export interface Extent {
  readonly rounds: number
  /** One after the other, per round. */
  readonly calls: number
  readonly parallel: number
  /** Of a followed job, per round. */
  readonly pages: number
  /** Of a resource, per round. */
  readonly reads: number
}

export const FULL: Extent = { rounds: 41, calls: 25, parallel: 100, pages: 100, reads: 50 }
export const TRIAL: Extent = { rounds: 2, calls: 5, parallel: 10, pages: 3, reads: 2 }

/** What is promised of MCP, each measured in this run; the order is that of the report. */
export async function mcpFindings(extent: Extent, progress: (what: string) => void): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const section of [single, parallel, following]) {
    progress(section.name)
    findings.push(...(await section(extent)))
  }
  return findings
}

async function single({ rounds, calls }: Extent): Promise<Finding[]> {
  const series = await measure('roundTrips', rounds, calls)
  const [tenon, bare] = [of(series, 'allTenon'), of(series, 'allBare')]
  return [
    atMostTimes(1.3, '`true` through MCP over the same through the bare server', of(series, 'tenon'), of(series, 'bare')),
    told('`true` through MCP', tenon, 'ms'),
    told('`true` through the bare server', bare, 'ms'),
    told('`true` through MCP, 99th percentile', [percentile(tenon, 0.99)], 'ms'),
    told('`true` through the bare server, 99th percentile', [percentile(bare, 0.99)], 'ms'),
  ]
}

async function parallel({ rounds, parallel: calls }: Extent): Promise<Finding[]> {
  const series = await measure('atOnce', Math.ceil(rounds / 4), calls)
  return [
    told(`${calls} calls at once over the same through the bare server`, pairedRatios(of(series, 'tenon'), of(series, 'bare')), 'x'),
    told(`${calls} calls at once, until the last is answered`, of(series, 'tenon'), 'ms'),
  ]
}

async function following({ rounds, pages, reads }: Extent): Promise<Finding[]> {
  const paged = await measure('pages', Math.ceil(rounds / 4), pages)
  const shown = await measure('resources', Math.ceil(rounds / 4), reads)
  return [
    told('the output of a job, followed by `job_output`', of(paged, 'rates'), 'MiB/s'),
    told('the resource of a job, read again and again', of(shown, 'rates'), 'MiB/s'),
    told('from what a job writes to the news of its resource, at most four a second', of(shown, 'told'), 'ms'),
  ]
}

function of(series: Series, name: string): readonly number[] {
  return series[name] ?? []
}
