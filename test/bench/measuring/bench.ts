import { parseArgs } from 'node:util'
import { type Finding, isMet, machine, table, writePart } from './report.ts'

const REPORT = 'docs/reference/performance.md'

/** One bench: what it measures, and its part of the report. */
export interface Bench<Extent> {
  /** After which its part of the report is named, and its command. */
  readonly name: string
  readonly title: string
  /** How its figures came about, after the command and the machine. */
  readonly about: string
  readonly full: Extent
  /** Too small to judge or to publish: shows that the bench works. */
  readonly trial: Extent
  findings(extent: Extent, tell: (section: string) => void): Promise<readonly Finding[]>
  /** One measurement, in a fresh process of this program. */
  inChild(args: readonly string[]): Promise<unknown>
}

/** `[--quick] [--report FILE]`; exit code 1 when a target is missed. */
export async function runBench<Extent>(bench: Bench<Extent>): Promise<void> {
  const [mode, ...rest] = process.argv.slice(2)
  if (mode === 'in-child') {
    console.log(JSON.stringify(await bench.inChild(rest)))
    return
  }
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, report: { type: 'string' } } })
  const all = await bench.findings(values.quick ? bench.trial : bench.full, (section) => console.error(`measuring: ${section} …`))
  const findings = values.quick ? all.map(({ target: _, ...told }) => told) : all
  const report = table(findings)
  console.log(report)
  const file = values.report ?? (values.quick ? undefined : REPORT)
  const head = `## ${bench.title}\n\n\`npm run bench -- ${bench.name}\`; ${machine()}. ${bench.about}`
  if (file !== undefined) await writePart(file, bench.name, `${head}\n\n${report}`)
  if (!isMet(findings)) process.exitCode = 1
}
