import { inChild } from './launch/measure.ts'
import { FULL, launchFindings, TRIAL } from './launch/promises.ts'
import { runBench } from './measuring/bench.ts'

/*
 * What it costs to start a command through the launcher process, against bare child_process, execa and a start by the host itself, in
 * hosts of different sizes, in one run.
 *
 *   npm run bench -- launch [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
await runBench({
  name: 'launch',
  title: 'Starting commands',
  about: `Compiled code; every measurement in a fresh process, the systems by turns. Ballast is memory of the host that is in use,
in buffers outside the heap. Bare is \`child_process.spawn\` whose output is collected by hand; \`host\` is this provider with
\`launcher: host\`, \`tenon\` with \`launcher: process\`. The time a start blocks the event loop is that of the call. A ratio is taken
within each pair of rounds, and its median judged.`,
  full: FULL,
  trial: TRIAL,
  findings: launchFindings,
  inChild,
})
