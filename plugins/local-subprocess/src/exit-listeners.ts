const listeners = new Set<() => void>()

/**
 * Calls back when this process exits, before listeners that were there already; the result takes that back. One listener of the process for
 * all who ask: Node warns of the eleventh, and a process may hold more runtimes than that.
 */
export function onProcessExit(listener: () => void): () => void {
  listeners.add(listener)
  process.removeListener('exit', callAll)
  process.prependListener('exit', callAll)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0) process.removeListener('exit', callAll)
  }
}

function callAll(): void {
  for (const listener of [...listeners].reverse()) listener()
}
