import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../clock.ts'

/** Resolves when the process is gone, at once if it never was there. It is killed if that takes longer, and keeps the host alive meanwhile. */
export async function exitOf(process: ChildProcess, clock: Clock, withinMs: number): Promise<void> {
  if (process.pid === undefined || process.exitCode !== null || process.signalCode !== null) return
  process.ref()
  await new Promise<void>((resolve) => {
    const enough = clock.after(withinMs, () => process.kill('SIGKILL'))
    process.once('exit', () => {
      enough.cancel()
      resolve()
    })
  })
}
