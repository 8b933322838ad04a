/** A part of a long run that is repeated by its seed alone. */
export interface Shard {
  readonly seed: number
  readonly runs: number
}

export type ShardResult = { readonly passed: true } | { readonly passed: false; readonly output: string }

/** What one soak came to. */
export interface SoakResult {
  /** Runs of the shards that passed. */
  readonly runs: number
  readonly failure?: { readonly shard: Shard; readonly output: string }
}

/** Seeds follow each other from `seed`, so that a longer soak begins with what a shorter one has done. */
export function shardsOf(runs: number, runsPerShard: number, seed: number): Shard[] {
  return Array.from({ length: Math.ceil(runs / runsPerShard) }, (_, index) => ({
    seed: seed + index,
    runs: Math.min(runsPerShard, runs - index * runsPerShard),
  }))
}

/**
 * Runs `jobs` shards at a time. The first one that fails ends the soak: the others are aborted and awaited.
 *
 * @param passed called after each shard with the number of runs so far
 */
export async function runShards(
  shards: readonly Shard[],
  jobs: number,
  run: (shard: Shard, signal: AbortSignal) => Promise<ShardResult>,
  passed: (runs: number) => void = () => undefined,
): Promise<SoakResult> {
  const abort = new AbortController()
  const queue = [...shards]
  let runs = 0
  let failure: SoakResult['failure']
  const work = async (): Promise<void> => {
    for (let shard = queue.shift(); shard !== undefined && !abort.signal.aborted; shard = queue.shift()) {
      const result = await run(shard, abort.signal)
      if (result.passed) {
        runs += shard.runs
        passed(runs)
      } else if (!abort.signal.aborted) {
        failure = { shard, output: result.output }
        abort.abort()
      }
    }
  }
  await Promise.all(Array.from({ length: jobs }, work))
  return failure === undefined ? { runs } : { runs, failure }
}
