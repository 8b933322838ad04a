import { inChild } from './exec/measure.ts'
import { execFindings, FULL, TRIAL } from './exec/promises.ts'
import { runBench } from './measuring/bench.ts'

/*
 * The speed and the memory of processes and commands, against bare child_process, execa, nano-spawn and zx, in one run.
 *
 *   npm run bench -- exec [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
await runBench({
  name: 'exec',
  title: 'Processes and commands',
  about: `Compiled code; every measurement in a fresh process, the systems by turns. Bare is
\`child_process.spawn\` whose output is collected by hand, or read and discarded where it says so. A ratio is taken within each pair of
runs, and its median judged. The event-loop delay is that beyond a timer of 1 ms; memory is the resident set above that before the flood.`,
  full: FULL,
  trial: TRIAL,
  findings: execFindings,
  inChild,
})
