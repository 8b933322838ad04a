import { parseArgs } from 'node:util'
import { inChild } from './exec/measure.ts'
import { execFindings, FULL, TRIAL } from './exec/promises.ts'
import { isMet, machine, table, writePart } from './measuring/report.ts'

/*
 * The speed and the memory of processes and commands, against bare child_process, execa, nano-spawn and zx, in one run.
 *
 *   npm run bench -- exec [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
const REPORT = 'docs/reference/performance.md'

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'in-child') console.log(JSON.stringify(await inChild(rest)))
else await bench()

async function bench(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, report: { type: 'string' } } })
  const all = await execFindings(values.quick ? TRIAL : FULL, (section) => console.error(`measuring: ${section} …`))
  const findings = values.quick ? all.map(({ target: _, ...told }) => told) : all
  const report = table(findings)
  console.log(report)
  const file = values.report ?? (values.quick ? undefined : REPORT)
  if (file !== undefined) await writePart(file, 'exec', `${about()}\n\n${report}`)
  if (!isMet(findings)) process.exitCode = 1
}

function about(): string {
  return `## Processes and commands

\`npm run bench -- exec\`; ${machine()}. Compiled code; every measurement in a fresh process, the systems by turns. Bare is
\`child_process.spawn\` whose output is collected by hand, or read and discarded where it says so. A ratio is taken within each pair of
runs, and its median judged. The event-loop delay is that beyond a timer of 1 ms; memory is the resident set above that before the flood.`
}
