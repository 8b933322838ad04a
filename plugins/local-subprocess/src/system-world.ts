import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import spawn from 'cross-spawn'
import { ownerRecord } from './channel/owner.ts'
import { systemClock } from './clock.ts'
import { HostLauncher } from './launch/host-launcher.ts'
import { assertThere } from './lookup.ts'
import { systemFiles } from './output/spill-shelf.ts'
import { LinuxTable } from './tree/linux-table.ts'
import { ListedTable, posixLister, windowsLister } from './tree/listed-table.ts'
import type { ProcessTable } from './tree/process-table.ts'
import type { World } from './world.ts'

/** What one program may take while the host ends. */
const SYNC_MS = 2_000

/** A listing of thousands of processes. */
const OUTPUT_BYTES = 16 * 1_024 ** 2

const execute = promisify(execFile)

/** The machine this process runs on. */
export function systemWorld(): World {
  const { platform, pid } = process
  const linux = platform === 'linux' ? new LinuxTable() : undefined
  const start = linux?.read(pid)?.start
  return {
    platform,
    host: pid,
    environment: { ...process.env },
    temporaryDirectory: tmpdir(),
    clock: systemClock,
    table: linux ?? listedTable(platform),
    send: (target, signal) => void process.kill(target, signal),
    launcher: new HostLauncher(spawn, platform, platform === 'win32' ? ({ argv, env }) => assertThere(argv, env) : undefined),
    run: async (file, args) => void (await output(file, args)),
    runSync: (file, args) => void outputSync(file, args),
    files: systemFiles,
    randomName: () => randomBytes(16).toString('hex'),
    owner: ownerRecord(pid, start),
    isAlive: (owner) => (start === undefined ? answers(owner.pid) : linux?.read(owner.pid)?.start === owner.start),
    onHostExit(listener) {
      process.prependListener('exit', listener)
      return () => process.removeListener('exit', listener)
    },
  }
}

function listedTable(platform: NodeJS.Platform): ProcessTable {
  const lister = platform === 'win32' ? windowsLister(Date.now) : posixLister(Date.now)
  return new ListedTable(lister, output, outputSync, systemClock.now)
}

async function output(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(file, [...args], { maxBuffer: OUTPUT_BYTES, windowsHide: true, env: plainEnvironment() })
  return stdout
}

function outputSync(file: string, args: readonly string[]): string {
  return execFileSync(file, [...args], {
    maxBuffer: OUTPUT_BYTES,
    windowsHide: true,
    timeout: SYNC_MS,
    env: plainEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
    encoding: 'utf8',
  })
}

/** Dates in one language. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' }
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
