import type { JobOutcome } from '@tenon/jobs'
import { asReader, ScriptedReader } from '../../shell-tool/scripted-reader.ts'
import { withJobs } from './compositions.ts'

/** Milliseconds from a reader's change to the follower's item: the 99th percentile and the median of each round. */
export async function latency(rounds: number, events: number): Promise<Record<string, number[]>> {
  const composition = await withJobs()
  const { jobs, session } = composition
  const measured: { p99: number[]; p50: number[] } = { p99: [], p50: [] }
  for (let round = 0; round < rounds; round++) {
    const reader = new ScriptedReader()
    let end = (): void => undefined
    const id = jobs.start({
      kind: 'bash',
      label: 'make',
      owner: session,
      attachment: 'detached',
      run({ attach }) {
        attach({ channels: { stdout: asReader(reader) } })
        const done = new Promise<JobOutcome>((resolve) => {
          end = () => resolve({ status: 'completed', outcome: 'exit code: 0' })
        })
        return { cancel: () => undefined, done }
      },
    })
    const delays = await delaysOf(jobs.follow(id, { caller: session }), reader, events)
    measured.p99.push(quantile(delays, 0.99))
    measured.p50.push(quantile(delays, 0.5))
    reader.finish()
    end()
    await jobs.wait(id, 60_000, session)
    jobs.remove(id, session)
  }
  await composition.close()
  return measured
}

/** Writes a line as soon as the one before has arrived, in a turn of its own as output does. */
async function delaysOf(follower: AsyncIterable<{ readonly type: string }>, reader: ScriptedReader, events: number): Promise<number[]> {
  const delays: number[] = []
  let wroteAt = 0
  const write = (): void => {
    setImmediate(() => {
      wroteAt = performance.now()
      reader.write('a line of output\n')
    })
  }
  for await (const { type } of follower) {
    if (type === 'output') delays.push(performance.now() - wroteAt)
    if (delays.length === events) break
    if (type === 'opened' || type === 'output') write()
  }
  return delays
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
