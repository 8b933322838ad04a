import { COOKIE_VARIABLE } from '@tenon/subprocess'
import { LinuxTable } from '../src/tree/linux-table.ts'

/** Dead but not reaped counts as gone: init takes its time. */
export function isAlive(pid: number): boolean {
  const entry = new LinuxTable(COOKIE_VARIABLE).read(pid)
  return entry !== undefined && !entry.zombie
}

/** What a test has left, if it is still there: it may end by itself between the look and the signal. */
export function endIfAlive(pid: number): void {
  if (!isAlive(pid)) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
