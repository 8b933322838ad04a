import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Identifies a runtime's process beyond its pid, which is used again, and which other namespaces use too. */
export interface Owner {
  readonly machine: string
  readonly boot: string | undefined
  readonly namespace: string | undefined
  readonly pid: number
  readonly start: number | undefined
}

/** `start` is in whatever unit the platform has at hand; it is only ever compared on the same machine. */
export function ownerRecord(pid: number, start: number | undefined): Owner {
  return {
    machine: hostname(),
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    pid,
    start,
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
