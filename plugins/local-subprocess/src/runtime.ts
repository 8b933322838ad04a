import { AbortHub } from '@tenon/abort-hub'
import { COOKIE_VARIABLE, SubprocessError } from '@tenon/subprocess'
import { FifoStock } from './channel/fifo-stock.ts'
import { LateClosing } from './channel/late-closing.ts'
import type { ChannelParts, Closable } from './channel/output-channel.ts'
import { PrivateDirectory } from './channel/private-directory.ts'
import { ReadBuffer } from './channel/read-buffer.ts'
import { type EscapeeParts, endEscapees, killEscapees } from './escapees.ts'
import { ProcessLauncher } from './launch/process-launcher.ts'
import { SpillShelf } from './output/spill-shelf.ts'
import type { Settings } from './settings.ts'
import { LiveTrees, type Survived } from './tree/live-trees.ts'
import { ProcessIndex } from './tree/process-index.ts'
import type { Snapshot } from './tree/process-table.ts'
import { Watch } from './tree/watch.ts'
import { type Log, Warnings } from './warnings.ts'
import type { World } from './world.ts'

/** Of the shape of `Runtime`: code of another version must not work on what this one made. */
export const RUNTIME_VERSION = 3

/** Bytes that one read of a stream takes: what a pipe holds by default. */
const READ_BYTES = 65_536

const IN_A_WORKER =
  'in a worker thread the host itself starts commands, their output goes through pipes, and they cannot open /dev/stdout: with FIFOs Node would close descriptors of other threads at the end of this one, unless it was made by `new Worker(file, { trackUnmanagedFds: false })`, which cannot be told here'

/** A launch under way. */
export interface Starting {
  /** Calls it off, or ends what has started. */
  terminate(): void
  readonly started: Promise<boolean>
}

/**
 * What a reload of the provider leaves alone: processes, their streams and files, and what finds them again. Each activation lays its
 * own settings and log over it.
 */
export class Runtime {
  readonly world: World
  /** Marks every process of this runtime. */
  readonly nonce: string
  readonly aborts = new AbortHub()
  readonly warnings: Warnings
  /** For contents: spill files, and data for standard inputs. */
  readonly directory: PrivateDirectory
  /** For names: FIFOs, and the socket of the launcher. The same where both are to be in one place. */
  pipes: PrivateDirectory
  /** For names alone. */
  readonly #apart: PrivateDirectory
  readonly channels: ChannelParts
  readonly watch: Watch
  readonly launcher: ProcessLauncher
  /** Trees that may have members. */
  readonly live: LiveTrees
  /** What may become a tree. */
  readonly starting = new Set<Starting>()
  /** Streams that may still deliver. */
  readonly open = new Set<Closable>()
  settings: Settings
  #counter = 0
  #closing: Promise<void> | undefined
  readonly #forgetExit: () => void

  constructor(world: World, settings: Settings, log: Log) {
    this.world = world
    this.nonce = world.randomName()
    this.settings = settings
    this.warnings = new Warnings(log)
    const { platform, table, clock, send, run, runSync } = world
    if (!world.isMainThread) this.warnings.once('worker', {}, IN_A_WORKER)
    world.spare.hold()
    const directoryIn = (bases: readonly string[]): PrivateDirectory =>
      new PrivateDirectory(bases, JSON.stringify(world.owner), (path) => this.launcher.directoryMade(path))
    this.directory = directoryIn([settings.spillDirectory])
    this.#apart = directoryIn(settings.pipeDirectories)
    this.pipes = this.#pipesFor(settings)
    this.watch = new Watch(table, clock, world.host)
    this.live = new LiveTrees({ platform, table, clock, watch: this.watch, aborts: this.aborts, send, run, runSync })
    // A name that is gone can still be opened by way of /proc/self/fd, but not by way of the /dev/fd of others.
    const keepsNames = platform !== 'linux'
    this.launcher = new ProcessLauncher({
      host: world.hostLauncher,
      start: world.startLauncher,
      directory: () => this.pipes,
      directories: () => this.#directories.flatMap(({ made }) => made),
      clock,
      warnings: this.warnings,
      claims: !keepsNames,
      descriptorLimit: world.descriptorLimit,
      commission: { host: world.host, nonce: this.nonce, cookieVariable: COOKIE_VARIABLE, killWaitMs: settings.killWaitMs },
      randomName: () => world.randomName(),
      user: () => world.user(),
      ready: () => this.channels.stock.prepare(),
    })
    const runAside = (file: string, args: readonly string[]): Promise<void> =>
      this.launcher.run([file, ...args], this.#plainEnvironment()) ?? run(file, args)
    this.channels = {
      stock: new FifoStock(
        () => this.pipes,
        runAside,
        runSync,
        clock,
        (error) => this.warnings.once('mkfifo', { err: error }, 'cannot make FIFOs; output goes through pipes, and commands cannot open /dev/stdout'),
        world.isMainThread,
      ),
      shelf: new SpillShelf(this.directory, this.warnings, settings, world),
      buffer: new ReadBuffer(READ_BYTES),
      closing: new LateClosing(),
      keepsNames,
    }
    this.#forgetExit = world.onHostExit(() => this.#hostExits())
  }

  get closing(): boolean {
    return this.#closing !== undefined
  }

  adopt(settings: Settings, log: Log): void {
    this.settings = settings
    this.warnings.log = log
    this.channels.shelf.limits = settings
    this.launcher.enable(settings.launcher === 'process')
    const before = this.pipes
    const moved = [this.directory.move([settings.spillDirectory]) && this.directory, this.#apart.move(settings.pipeDirectories) && this.#apart]
    this.pipes = this.#pipesFor(settings)
    if (this.pipes !== before || moved.includes(this.pipes)) this.channels.stock.clear()
  }

  #pipesFor({ spillDirectory, pipeDirectories }: Settings): PrivateDirectory {
    return pipeDirectories[0] === spillDirectory ? this.directory : this.#apart
  }

  get #directories(): readonly PrivateDirectory[] {
    return [this.directory, this.#apart]
  }

  /** Marks the processes of one spawn; names its data too. */
  nextCookie(): string {
    return `${this.nonce}.${this.#counter++}`
  }

  /** Ends everything and waits until it is quiet. Rejects with what could not be ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const failures = await this.#endAll()
    await this.channels.stock.close()
    for (const stream of [...this.open]) stream.close()
    this.channels.shelf.withdrawAll()
    await this.launcher.close(failures.length === 0)
    // Nothing is looked for any more, and to remove a directory takes a descriptor.
    this.world.spare.release()
    await Promise.all(this.#directories.map((directory) => directory.remove())).catch((error: unknown) =>
      this.warnings.log.warn({ err: error }, 'cannot remove the private directory'),
    )
    this.#forgetExit()
    if (failures.length === 1) throw failures[0]
    if (failures.length > 1) throw new AggregateError(failures, `${failures.length} process trees could not be ended`)
  }

  async #endAll(): Promise<Error[]> {
    const { killWaitMs } = this.settings
    // Exits that it does not tell would be waited for in vain.
    this.launcher.ping()
    const launches = [...this.starting]
    for (const launch of launches) launch.terminate()
    await Promise.all(launches.map(({ started }) => started))
    const [survived, escaped] = await Promise.all([this.live.end(killWaitMs), this.#counter === 0 ? [] : endEscapees(this.#escapees(), killWaitMs)])
    return [...survived.map(treeSurvived), ...(escaped.length === 0 ? [] : [escapeesSurvived(escaped)])]
  }

  #escapees(): EscapeeParts {
    const { clock, table, send } = this.world
    return { nonce: this.nonce, trees: this.live, watch: this.watch, clock, table, send }
  }

  /** For the programs of the system: messages and dates in one language. */
  #plainEnvironment(): Record<string, string> {
    return { PATH: this.world.environment.PATH ?? '', LC_ALL: 'C' }
  }

  /** The host is ending, whatever the reason: nothing asynchronous runs any more, and a fault here would replace the reason. */
  #hostExits(): void {
    if (this.#counter > 0) {
      // Twice, for what was forked while the table was read. To list the processes of Windows takes longer than the host has.
      const passes = this.world.platform === 'win32' ? [undefined] : [this.world.table, this.world.table]
      for (const table of passes) contained(() => this.#killAll(table?.snapshotSync()))
    }
    this.world.spare.release()
    for (const directory of this.#directories) contained(() => directory.removeSync())
  }

  #killAll(snapshot: Snapshot | undefined): void {
    const index = snapshot && new ProcessIndex(snapshot, this.world.host)
    this.live.killNow(index)
    if (index !== undefined) killEscapees(this.#escapees(), index)
  }
}

function treeSurvived({ program, pids, waitedMs }: Survived): SubprocessError {
  const what = `${program}: still alive ${waitedMs} ms after it was asked to end: pid ${pids.join(', ')}`
  return new SubprocessError('TREE_SURVIVED', what, { details: { program, pids: [...pids] } })
}

function escapeesSurvived(pids: readonly number[]): SubprocessError {
  const what = `processes that left their tree are still alive: pid ${pids.join(', ')}`
  return new SubprocessError('TREE_SURVIVED', what, { details: { pids: [...pids] } })
}

function contained(work: () => void): void {
  try {
    work()
  } catch {
    // One failing target does not stop the pass.
  }
}
