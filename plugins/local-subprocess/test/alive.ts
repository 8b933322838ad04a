import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { LinuxTable } from '../src/tree/linux-table.ts'

/** Dead but not reaped counts as gone: init takes its time. */
export function isAlive(pid: number): boolean {
  const entry = new LinuxTable(COOKIE_VARIABLE).read(pid)
  return entry !== undefined && !entry.zombie
}
