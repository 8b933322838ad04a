import { readFileSync } from 'node:fs'

/** Of the main thread: the entry of a process is its first. Nanoseconds on a processor come first; see proc(5). */
const SCHEDSTAT = `/proc/self/task/${process.pid}/schedstat`

/**
 * Milliseconds, from any beginning, that the main thread has been running: what it takes while it stands in a queue for a processor
 * is no cost of what is measured. The kernel of the platform brings it up to date a few hundred times a second, so a difference is
 * good to some milliseconds. Where the platform does not tell, the time that has passed.
 */
const runningMs: () => number = tells() ? () => Number(readFileSync(SCHEDSTAT, 'latin1').split(' ')[0]) / 1e6 : () => performance.now()

/** Starts now; each call tells the milliseconds since then. */
export function stopwatch(): () => number {
  const began = runningMs()
  const wall = performance.now()
  // The scheduler accounts in ticks: what ends within one shows as nothing. It ran no longer than it took.
  return () => runningMs() - began || performance.now() - wall
}

/** The same for the time that has passed, where waiting is what is measured. */
export function wallClock(): () => number {
  const began = performance.now()
  return () => performance.now() - began
}

/** Milliseconds that `work` takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const elapsed = stopwatch()
  await work()
  return elapsed()
}

function tells(): boolean {
  try {
    return Number(readFileSync(SCHEDSTAT, 'latin1').split(' ')[0]) > 0
  } catch {
    return false
  }
}
