import { type ChildProcess, spawn as nodeSpawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { accessSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { COOKIE_VARIABLE } from '@tenon/subprocess'
import spawn from 'cross-spawn'
import { memoryDirectories } from './channel/memory-directory.ts'
import { ownerRecord } from './channel/owner.ts'
import { systemClock } from './clock.ts'
import { onProcessExit } from './exit-listeners.ts'
import { inheritedLimit } from './launch/descriptor-limit.ts'
import { HostLauncher, withoutHostAdditions } from './launch/host-launcher.ts'
import { assertThere } from './lookup.ts'
import { systemFiles } from './output/spill-shelf.ts'
import { runProgram, runProgramSync } from './run-program.ts'
import { SpareDescriptor } from './spare-descriptor.ts'
import { LinuxTable } from './tree/linux-table.ts'
import { ListedTable, posixLister, windowsLister } from './tree/listed-table.ts'
import type { ProcessTable } from './tree/process-table.ts'
import { sendSignal } from './tree/send-signal.ts'
import type { World } from './world.ts'

/** The machine this process runs on. */
export function systemWorld(): World {
  const { platform, pid } = process
  const spare = new SpareDescriptor()
  const linux = platform === 'linux' ? new LinuxTable(COOKIE_VARIABLE, '/proc', spare) : undefined
  const start = linux?.read(pid)?.start
  return {
    platform,
    host: pid,
    isMainThread,
    environment: { ...process.env },
    temporaryDirectory: resolve(tmpdir()),
    memoryDirectories: platform === 'linux' ? memoryDirectories(process.env.XDG_RUNTIME_DIR, process.getuid?.()) : [],
    // As `os.tmpdir` looks it up.
    isTemporaryDirectoryNamed: ['TMPDIR', 'TMP', 'TEMP'].some((name) => process.env[name]),
    clock: systemClock,
    table: linux ?? listedTable(platform),
    spare,
    send: sendSignal,
    hostLauncher: new HostLauncher(spawn, platform, platform === 'win32' ? ({ argv, env }) => assertThere(argv, env) : undefined),
    startLauncher: (cwd) => startLauncher(cwd),
    descriptorLimit: platform === 'linux' ? inheritedLimit(process.ppid) : undefined,
    run: async (file, args) => void (await runProgram(file, args)),
    runSync: (file, args) => void runProgramSync(file, args),
    files: systemFiles,
    randomName: () => randomBytes(16).toString('hex'),
    user: () => `${process.geteuid?.()}:${process.getegid?.()}`,
    owner: ownerRecord(pid, start),
    isAlive: (owner) => (start === undefined ? answers(owner.pid) : linux?.read(owner.pid)?.start === owner.start),
    onHostExit: onProcessExit,
  }
}

/** From `src`, from `dist`, and from a bundle of `dist` all the same. */
const LAUNCHER = fileURLToPath(new URL('../dist/launcher/main.js', import.meta.url))

/** Few threads and little memory: it does next to nothing, and stays as long as the host. The first is room for the largest frame. */
const LAUNCHER_FLAGS = ['--max-old-space-size=512', '--max-semi-space-size=1', '--v8-pool-size=0', '--no-opt', '--expose-gc']

/** One thread for files will do; of four, each makes every start of a command dearer, since the fork copies what they have mapped. */
const LAUNCHER_ENVIRONMENT = { UV_THREADPOOL_SIZE: '1' }

/**
 * Leads a session of its own, so that no signal to the host's reaches it; of the host's environment it has what an outer runtime knows it by.
 * @throws ENOENT where the launcher's file was left out of a bundle: what runs there may not be Node itself, and would start its own like again
 */
export function startLauncher(cwd: string, launcher = LAUNCHER): ChildProcess {
  accessSync(launcher)
  const cookie = process.env[COOKIE_VARIABLE]
  return nodeSpawn(process.execPath, [...LAUNCHER_FLAGS, launcher], {
    cwd,
    env: withoutHostAdditions({ ...LAUNCHER_ENVIRONMENT, ...(cookie !== undefined && { [COOKIE_VARIABLE]: cookie }) }),
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
}

function listedTable(platform: NodeJS.Platform): ProcessTable {
  const lister = platform === 'win32' ? windowsLister(Date.now) : posixLister(Date.now)
  return new ListedTable(lister, runProgram, runProgramSync, systemClock.now)
}

function answers(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
