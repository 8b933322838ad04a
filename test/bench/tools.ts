import { runBench } from './measuring/bench.ts'
import { inChild } from './tools/measure.ts'
import { FULL, TRIAL, toolFindings } from './tools/promises.ts'

/*
 * The speed and memory of the tool pipeline, the shell tool, the system prompt and the job registry, in one run.
 *
 *   npm run bench -- tools [--quick] [--report FILE]
 *
 * Exit code 1 when a target is missed. `--quick` is a trial of the bench itself: too small to judge or to publish.
 */
await runBench({
  name: 'tools',
  title: 'Tools and jobs',
  about: `Compiled code, each section in a process of its own. A run is the mean of many calls in a row,
after a warm-up. A ratio is taken within each pair of runs, and its median judged; of memory there is one run. An instant executor is
one whose commands end as soon as they are started: what is left is the cost of Tenon. Calls that start no process are timed on the clock
of the main thread where the platform tells it (Linux), so that a busy machine does not add to them.`,
  full: FULL,
  trial: TRIAL,
  findings: toolFindings,
  inChild,
})
