import type { Finding } from '../measuring/report.ts'
import { pairedRatios, summarize } from '../measuring/statistics.ts'
import { alternately, inTwoSizes, type Series, warm } from './measure.ts'

/** How much of everything: few and small for a trial of the bench itself. */
export interface Extent {
  readonly load: number
  readonly chain: number
  readonly few: number
  readonly many: number
  readonly coldRuns: number
  readonly chainRuns: number
  readonly rounds: number
  readonly calls: number
}

export const FULL: Extent = { load: 4000, chain: 2000, few: 1000, many: 10_000, coldRuns: 11, chainRuns: 3, rounds: 21, calls: 1_000_000 }
export const TRIAL: Extent = { load: 100, chain: 30, few: 20, many: 40, coldRuns: 1, chainRuns: 1, rounds: 2, calls: 1000 }

/** What the kernel promises of its speed, each measured in this run; the order is that of the report. */
export async function kernelFindings(extent: Extent, progress: (what: string) => void): Promise<Finding[]> {
  const sections = [loading, chains, scaling, flipping, calling, memory]
  const findings: Finding[] = []
  for (const section of sections) {
    progress(section.name)
    findings.push(...(await section(extent)))
  }
  return findings
}

interface Loaded extends Record<string, number> {
  readonly loadMs: number
  readonly closeMs: number
}

async function loading({ load, coldRuns }: Extent): Promise<Finding[]> {
  const { tenon, cordis } = await alternately<Loaded>('load', load, coldRuns)
  const what = `load ${load} plugins, cold`
  return [
    atLeast(15, `${what}: times faster than cordis`, ms(cordis, 'loadMs'), ms(tenon, 'loadMs')),
    told(`${what}: Tenon`, ms(tenon, 'loadMs'), 'ms'),
    told(`${what}: cordis`, ms(cordis, 'loadMs'), 'ms'),
    told(`close ${load} plugins, cold: times faster than cordis`, pairedRatios(ms(cordis, 'closeMs'), ms(tenon, 'closeMs')), 'x'),
  ]
}

async function chains({ chain, chainRuns }: Extent): Promise<Finding[]> {
  type Chained = { readonly bootMs: number; readonly restartMs: number; readonly closeMs: number }
  const { tenon, cordis } = await alternately<Chained>('chain', chain, chainRuns)
  const steps: readonly [keyof Chained, string][] = [
    ['bootMs', 'boot'],
    ['restartMs', 'root restart'],
    ['closeMs', 'close'],
  ]
  return steps.flatMap(([step, name]) => [
    atLeast(20, `chain of ${chain}, ${name}, cold: times faster than cordis`, ms(cordis, step), ms(tenon, step)),
    told(`chain of ${chain}, ${name}, cold: Tenon`, ms(tenon, step), 'ms'),
    told(`chain of ${chain}, ${name}, cold: cordis`, ms(cordis, step), 'ms'),
  ])
}

async function scaling({ few, many, coldRuns, rounds }: Extent): Promise<Finding[]> {
  const cold = await inTwoSizes<Loaded>('load', few, many, coldRuns)
  const series = await warm('loads', [rounds, few, many])
  const perPlugin = (loads: readonly Loaded[], count: number): number[] => loads.map(({ loadMs }) => (loadMs * 1000) / count)
  return [
    atMost(1.5, `load, cold: time per plugin at ${many} over that at ${few}`, perPlugin(cold.many, many), perPlugin(cold.few, few)),
    told(`load, cold: time per plugin at ${many}`, perPlugin(cold.many, many), 'µs'),
    told(`load, warm: time per plugin at ${many} over that at ${few}`, pairedRatios(of(series, many), of(series, few)), 'x'),
    told(`load, warm: time per plugin at ${many}`, of(series, many), 'µs'),
  ]
}

async function flipping({ few, many, rounds }: Extent): Promise<Finding[]> {
  const series = await warm('flips', [rounds, few, 0, many, 0, few, many])
  const alone = of(series, `${few}+0`)
  return [
    atMost(1.5, `flip a provider: cost per dependent with ${many} over that with ${few}`, of(series, `${many}+0`), alone),
    atMost(1.5, `flip a provider of ${few}: cost per dependent beside ${many} other rows over that alone`, of(series, `${few}+${many}`), alone),
    told(`flip a provider of ${few}: cost per dependent, down and up`, alone, 'µs'),
  ]
}

async function calling({ rounds, calls }: Extent): Promise<Finding[]> {
  // Some hundred milliseconds a round: the clock is good to four.
  const read = await warm('reading', [rounds, calls * 200])
  const emitted = await warm('emitting', [rounds, calls * 10])
  return [
    atMost(1.1, 'call through an injected capability over a local variable', of(read, 'injected'), of(read, 'local')),
    told('call through an injected capability', of(read, 'injected'), 'ns'),
    told('call through a service of cordis', of(read, 'cordis'), 'ns'),
    atMost(3, 'emit to 10 listeners over a plain loop', of(emitted, 'emitter'), of(emitted, 'loop')),
    told('emit to 10 listeners', of(emitted, 'emitter'), 'ns'),
    told('emit to 10 listeners of cordis', of(emitted, 'cordis'), 'ns'),
  ]
}

async function memory({ many, chainRuns }: Extent): Promise<Finding[]> {
  const { tenon, cordis } = await alternately<{ readonly bytes: number }>('memory', many, chainRuns)
  const kibibytes = tenon.map(({ bytes }) => bytes / 1024)
  const measured = summarize(kibibytes)
  return [
    { what: 'memory per active plugin with one effect', measured, unit: 'KiB', target: { text: '< 4 KiB', met: measured.median < 4 } },
    told(
      'the same of cordis',
      cordis.map(({ bytes }) => bytes / 1024),
      'KiB',
    ),
  ]
}

function atLeast(bound: number, what: string, dividends: readonly number[], divisors: readonly number[]): Finding {
  const measured = summarize(pairedRatios(dividends, divisors))
  return { what, measured, unit: 'x', target: { text: `≥ ${bound}x`, met: measured.median >= bound } }
}

function atMost(bound: number, what: string, dividends: readonly number[], divisors: readonly number[]): Finding {
  const measured = summarize(pairedRatios(dividends, divisors))
  return { what, measured, unit: 'x', target: { text: `≤ ${bound}x`, met: measured.median <= bound } }
}

function told(what: string, sample: readonly number[], unit: string): Finding {
  return { what, measured: summarize(sample), unit }
}

function ms<K extends string>(figures: readonly Readonly<Record<K, number>>[], key: K): number[] {
  return figures.map((figure) => figure[key])
}

function of(series: Series, name: string | number): readonly number[] {
  return series[name] ?? []
}
