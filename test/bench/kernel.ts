import { parseArgs } from 'node:util'
import { inChild } from './kernel/measure.ts'
import { FULL, kernelFindings, TRIAL } from './kernel/promises.ts'
import { isMet, machine, table, writePart } from './measuring/report.ts'

/*
 * The speed of the kernel, against cordis 4.0.0-rc.10 and bare loops, in one run.
 *
 *   npm run bench -- kernel [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
const REPORT = 'docs/reference/performance.md'

const [mode, ...rest] = process.argv.slice(2)
if (mode === 'in-child') console.log(JSON.stringify(await inChild(rest)))
else await bench()

async function bench(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, report: { type: 'string' } } })
  const all = await kernelFindings(values.quick ? TRIAL : FULL, (section) => console.error(`measuring: ${section} …`))
  const findings = values.quick ? all.map(({ target: _, ...told }) => told) : all
  const report = table(findings)
  console.log(report)
  const file = values.report ?? (values.quick ? undefined : REPORT)
  if (file !== undefined) await writePart(file, 'kernel', `${about()}\n\n${report}`)
  if (!isMet(findings)) process.exitCode = 1
}

function about(): string {
  return `## Kernel

\`npm run bench -- kernel\`; ${machine()}. Against cordis 4.0.0-rc.10, compiled code on both sides. Cold: one run is one fresh process,
the two systems by turns. Warm: rounds in one process, after a warm-up. A ratio is taken within each pair of runs, and its median judged.
Times are those of the main thread on a processor where the platform tells them (Linux), so that a busy machine does not add to them.`
}
