import type { Kernel, Logger } from '@tenon/kernel'

/** A row that hangs would otherwise be told only when its budget is used up. In milliseconds. */
const FIRST_MS = 5_000
const AGAIN_MS = 10_000

/** While rows change: says which ones are still at it after `firstMs`, and again from time to time. */
export async function tellingSlowRows<T>(kernel: Kernel, logger: Logger | undefined, work: () => Promise<T>, firstMs = FIRST_MS): Promise<T> {
  if (logger === undefined) return work()
  const began = performance.now()
  const tell = (): void => {
    const seconds = Math.round((performance.now() - began) / 100) / 10
    for (const { id, phase } of kernel.inspect().rows) {
      if (phase === 'activating' || phase === 'deactivating') logger.warn({ row: id }, `row "${id}" is still ${phase}, after ${seconds} s`)
    }
    timer = setTimeout(tell, AGAIN_MS)
  }
  let timer = setTimeout(tell, firstMs)
  try {
    return await work()
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Warns of rows that say they provide what they do not offer. Whoever injects that waits for ever: an offer is made before `activate`
 * returns, or in a fork, so a row without forks will not make it.
 */
export function warnOfUnoffered(kernel: Kernel, logger: Logger | undefined, ids?: ReadonlySet<string>): void {
  if (logger === undefined) return
  for (const { id, plugin, phase, provides, offers, forks } of kernel.inspect().rows) {
    if (phase !== 'active' || forks.length > 0 || (ids !== undefined && !ids.has(id))) continue
    for (const key of provides.filter((provided) => !offers.includes(provided))) {
      const advice = 'call scope.provide before `activate` returns, or take it out of `provides`'
      logger.warn({ row: id }, `row "${id}" provides "${key}" but never offers it: plugin "${plugin}" should ${advice}`)
    }
  }
}
