import { execFile, execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import spawn from 'cross-spawn'
import { ownerRecord } from './channel/owner.ts'
import { systemClock } from './clock.ts'
import { HostLauncher } from './launch/host-launcher.ts'
import { systemFiles } from './output/spill-shelf.ts'
import { LinuxTable } from './tree/linux-table.ts'
import type { World } from './world.ts'

const execute = promisify(execFile)

/** The machine this process runs on. */
export function systemWorld(): World {
  const { platform } = process
  const table = new LinuxTable()
  return {
    platform,
    host: process.pid,
    environment: { ...process.env },
    temporaryDirectory: tmpdir(),
    clock: systemClock,
    table,
    send: (pid, signal) => void process.kill(pid, signal),
    launcher: new HostLauncher(spawn),
    run: async (file, args) => void (await execute(file, [...args])),
    runSync: (file, args) => void execFileSync(file, [...args], { stdio: 'ignore' }),
    files: systemFiles,
    owner: JSON.stringify(ownerRecord(table)),
    onHostExit(listener) {
      process.prependListener('exit', listener)
      return () => process.removeListener('exit', listener)
    },
  }
}
