import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import type { LinuxTable } from '../tree/linux-table.ts'

/** Identifies a runtime's process beyond its pid, which is used again, and which other namespaces use too. */
export interface Owner {
  readonly machine: string
  readonly boot: string | undefined
  readonly namespace: string | undefined
  readonly pid: number
  readonly start: number | undefined
}

export function ownerRecord(table: LinuxTable): Owner {
  return {
    machine: hostname(),
    boot: attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
    pid: process.pid,
    start: table.read(process.pid)?.start,
  }
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
