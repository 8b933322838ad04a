import { readFileSync } from 'node:fs'

/** How many descriptors a process may have open: `ulimit -Sn` and `ulimit -Hn`. */
export interface DescriptorLimit {
  readonly soft: number
  readonly hard: number
}

/** What the launcher opens for itself and for one start, generously. */
const LEAST = 64

/**
 * The limit this process was started with. Node raises its soft limit to the hard one before any program runs, and tells nobody what it
 * was (`PlatformInit` in its node.cc); children would inherit that. It was most likely the parent's, which is credible if both have the
 * same hard limit. Undefined where there is nothing to restore, and where that cannot be told.
 */
export function inheritedLimit(parent: number): DescriptorLimit | undefined {
  try {
    return restorable(readFileSync('/proc/self/limits', 'utf8'), readFileSync(`/proc/${parent}/limits`, 'utf8'))
  } catch {
    return undefined
  }
}

/** Of two texts as in `/proc/PID/limits` (man 5 proc). */
export function restorable(own: string, parent: string): DescriptorLimit | undefined {
  const [raised, inherited] = [limitIn(own), limitIn(parent)]
  if (raised === undefined || inherited === undefined || inherited.hard !== raised.hard) return undefined
  return inherited.soft < raised.soft && inherited.soft >= LEAST ? inherited : undefined
}

/** Program and arguments that change a process that runs: `prlimit` of util-linux. */
export function restoring(pid: number, { soft, hard }: DescriptorLimit): [program: string, args: string[]] {
  return ['prlimit', [`--pid=${pid}`, `--nofile=${soft}:${hard}`]]
}

function limitIn(text: string): DescriptorLimit | undefined {
  const [, soft, hard] = /^Max open files +(\d+) +(\d+)/m.exec(text) ?? []
  return soft === undefined || hard === undefined ? undefined : { soft: Number(soft), hard: Number(hard) }
}
