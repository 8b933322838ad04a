import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { runShards, shardsOf } from './shards/run-shards.ts'
import { vitestShard } from './shards/vitest-shard.ts'

/*
 * The kernel against its model, for long.
 *
 *   npm run soak -- kernel [--runs 1000000] [--seed N] [--jobs 2]
 *
 * Ends at the first scenario in which the two disagree, shrunk, and says how to play it again; exit code 1 then.
 */
const SPEC = 'packages/kernel/test/model/composition.model.spec.ts'
const RUNS_PER_SHARD = 10_000

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    jobs: { type: 'string', default: String(availableParallelism()) },
  },
})
const [runs, seed, jobs] = [whole('runs', values.runs), whole('seed', values.seed), whole('jobs', values.jobs)]

const interrupted = new AbortController()
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => interrupted.abort())

const began = performance.now()
const seconds = (): string => ((performance.now() - began) / 1000).toFixed(0)
const shards = shardsOf(runs, RUNS_PER_SHARD, seed)
const result = await runShards(
  shards,
  jobs,
  (shard, signal) => {
    const env = { TENON_MODEL_RUNS: String(shard.runs), TENON_MODEL_SEED: String(shard.seed) }
    return vitestShard(SPEC, env, AbortSignal.any([signal, interrupted.signal]))
  },
  (done) => console.error(`${done.toLocaleString('en')} of ${runs.toLocaleString('en')} scenarios agree after ${seconds()} s`),
)

if (interrupted.signal.aborted) {
  console.log(`interrupted: ${result.runs.toLocaleString('en')} scenarios agree after ${seconds()} s`)
  process.exitCode = 130
} else if (result.failure === undefined) {
  console.log(`${result.runs.toLocaleString('en')} scenarios agree, seeds ${seed} to ${seed + shards.length - 1}, in ${seconds()} s`)
} else {
  const { shard, output } = result.failure
  console.log(output)
  console.log(`again: TENON_MODEL_RUNS=${shard.runs} TENON_MODEL_SEED=${shard.seed} npm test -- ${SPEC}`)
  process.exitCode = 1
}

function whole(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`--${name} is ${JSON.stringify(text)}; give a whole number above 0`)
}
