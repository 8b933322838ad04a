import type { EnvEntries } from '@tenon/subprocess'
import type { RunProgram, RunProgramSync } from './channel/fifo-stock.ts'
import type { Owner } from './channel/owner.ts'
import type { Clock } from './clock.ts'
import type { DescriptorLimit } from './launch/descriptor-limit.ts'
import type { Launcher } from './launch/launch-plan.ts'
import type { StartLauncher } from './launch/welcome.ts'
import type { SpillFiles } from './output/spill-shelf.ts'
import type { SpareDescriptor } from './spare-descriptor.ts'
import type { SendSignal } from './tree/posix-tree.ts'
import type { ProcessTable } from './tree/process-table.ts'

/** Everything outside this plugin that it touches, so that each column of a platform can be tried on one machine. */
export interface World {
  readonly platform: NodeJS.Platform
  /** The host's pid. */
  readonly host: number
  /**
   * At the end of any other thread Node closes what `fs` has opened in it and not closed. A descriptor that was handed to a socket is closed by
   * then, and its number may be another thread's.
   */
  readonly isMainThread: boolean
  /** The host's environment as it was when the runtime was made. */
  readonly environment: EnvEntries
  /** Absolute. */
  readonly temporaryDirectory: string
  /** Absolute, in memory, best first. */
  readonly memoryDirectories: readonly string[]
  /** The environment says where temporary files are to be. */
  readonly isTemporaryDirectoryNamed: boolean
  readonly clock: Clock
  readonly table: ProcessTable
  /** What the table is read with when no other descriptor is left. */
  readonly spare: Pick<SpareDescriptor, 'hold' | 'release'>
  readonly send: SendSignal
  /** Launches as a child of the host. */
  readonly hostLauncher: Launcher
  /** Starts the launcher process, with its standard input as a pipe. */
  readonly startLauncher: StartLauncher
  /** The limit of descriptors that the host was started with, where it has another now and that can be told. */
  readonly descriptorLimit: DescriptorLimit | undefined
  /** Runs a program of the system; rejects unless it ends with 0. */
  readonly run: RunProgram
  readonly runSync: RunProgramSync
  readonly files: SpillFiles
  /** 128 random bits, fit for a file name. */
  randomName(): string
  /** Who the host is to the system at this moment. */
  user(): string
  /** Says whose a private directory is. */
  readonly owner: Owner
  /** Whether the process that owns a directory is there; asked only of owners on this machine, in this boot and namespace. */
  isAlive(owner: Owner): boolean
  /** Calls the listener when the host exits, before earlier ones. The result removes it. */
  onHostExit(listener: () => void): () => void
}
