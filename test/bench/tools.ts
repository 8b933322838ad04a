import { parseArgs } from 'node:util'
import { isMet, machine, table, writePart } from './measuring/report.ts'
import { inChild } from './tools/measure.ts'
import { FULL, TRIAL, toolFindings } from './tools/promises.ts'

/*
 * The speed and memory of the tool pipeline, the shell tool, the system prompt and the job registry, in one run.
 *
 *   npm run bench -- tools [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
const REPORT = 'docs/reference/performance.md'

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'in-child') console.log(JSON.stringify(await inChild(rest)))
else await bench()

async function bench(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, report: { type: 'string' } } })
  const all = await toolFindings(values.quick ? TRIAL : FULL, (section) => console.error(`measuring: ${section} …`))
  const findings = values.quick ? all.map(({ target: _, ...told }) => told) : all
  const report = table(findings)
  console.log(report)
  const file = values.report ?? (values.quick ? undefined : REPORT)
  if (file !== undefined) await writePart(file, 'tools', `${about()}\n\n${report}`)
  if (!isMet(findings)) process.exitCode = 1
}

function about(): string {
  return `## Tools and jobs

\`npm run bench -- tools\`; ${machine()}. Compiled code, each section in a process of its own. A run is the mean of many calls in a row,
after a warm-up. A ratio is taken within each pair of runs, and its median judged; of memory there is one run. An instant executor is
one whose commands end as soon as they are started: what is left is the cost of Tenon. Calls that start no process are timed on the clock
of the main thread where the platform tells it (Linux), so that a busy machine does not add to them.`
}
