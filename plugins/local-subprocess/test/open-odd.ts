import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { systemWorld } from '../src/system-world.ts'
import { type OpenedLauncher, openLaunched } from './open-launched.ts'

const ODD = fileURLToPath(new URL('programs/odd-launcher.mjs', import.meta.url))

/** The first launcher is odd in the given way, later ones are as they should be. */
export async function openOdd(way: string): Promise<OpenedLauncher> {
  const real = systemWorld().startLauncher
  let started = 0
  const startLauncher = (cwd: string): ChildProcess =>
    started++ > 0 ? real(cwd) : spawn(process.execPath, [ODD, way], { cwd, stdio: ['pipe', 'ignore', 'inherit'], detached: true })
  return openLaunched({ world: { startLauncher } })
}
