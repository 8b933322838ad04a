import { inChild } from './kernel/measure.ts'
import { FULL, kernelFindings, TRIAL } from './kernel/promises.ts'
import { runBench } from './measuring/bench.ts'

/*
 * The speed of the kernel, against cordis 4.0.0-rc.10 and bare loops, in one run.
 *
 *   npm run bench -- kernel [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
await runBench({
  name: 'kernel',
  title: 'Kernel',
  about: `Against cordis 4.0.0-rc.10, compiled code on both sides. Cold: one run is one fresh process,
the two systems by turns. Warm: rounds in one process, after a warm-up. A ratio is taken within each pair of runs, and its median judged.
Times are those of the main thread on a processor where the platform tells them (Linux), so that a busy machine does not add to them.`,
  full: FULL,
  trial: TRIAL,
  findings: kernelFindings,
  inChild,
})
