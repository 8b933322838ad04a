import { parseArgs } from 'node:util'
import { jobsFindings } from './jobs/promises.ts'
import { isMet, machine, table, writePart } from './measuring/report.ts'

/*
 * The speed and the memory of the job registry, in one run.
 *
 *   npm run bench -- jobs [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
const REPORT = 'docs/reference/performance.md'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, report: { type: 'string' } } })
const all = await jobsFindings(values.quick ? 0.02 : 1, (section) => console.error(`measuring: ${section} …`))
const findings = values.quick ? all.map(({ target: _, ...told }) => told) : all
const report = table(findings)
console.log(report)
const file = values.report ?? (values.quick ? undefined : REPORT)
if (file !== undefined) await writePart(file, 'jobs', `${about()}\n\n${report}`)
if (!isMet(findings)) process.exitCode = 1

function about(): string {
  return `## Jobs

\`npm run bench -- jobs\`; ${machine()}. Jobs whose work costs nothing, so that what is measured is the registry. Times of single calls are
medians within a round, and their median over the rounds is told.`
}
