import { expect } from 'vitest'

export const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

/** Not by a wait of the runner's, which has timers of its own. */
export async function noMoreTimersThan(before: number): Promise<void> {
  for (const until = performance.now() + 10_000; timers() > before && performance.now() < until; )
    await new Promise((resolve) => setImmediate(resolve))
  expect(timers()).toBeLessThanOrEqual(before)
}
