import { SubprocessError } from '@tenon/subprocess'
import { AbortHub } from './abort-hub.ts'
import { FifoStock } from './channel/fifo-stock.ts'
import type { ChannelParts, Closable } from './channel/output-channel.ts'
import { PrivateDirectory } from './channel/private-directory.ts'
import { endEscapees, killEscapees } from './escapees.ts'
import { SpillShelf } from './output/spill-shelf.ts'
import type { Settings } from './settings.ts'
import { ProcessIndex } from './tree/process-index.ts'
import type { Snapshot } from './tree/process-table.ts'
import type { ProcessTree } from './tree/process-tree.ts'
import { Watch } from './tree/watch.ts'
import { type Log, Warnings } from './warnings.ts'
import type { World } from './world.ts'

/** Bytes that one read of a stream takes: what a pipe holds by default. */
const READ_BYTES = 65_536

/** Older trees that each settlement asks again, so that the live set shrinks without a timer. */
const REPROBES = 3

/** A tree, and what is needed to speak of it. */
export interface Tracked {
  readonly tree: ProcessTree
  readonly cookie: string
  readonly program: string
  readonly graceMs: number
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
  readonly directory: PrivateDirectory
  readonly channels: ChannelParts
  readonly watch: Watch
  /** Trees that may have members. */
  readonly live = new Set<Tracked>()
  /** Streams that may still deliver. */
  readonly open = new Set<Closable>()
  settings: Settings
  #counter = 0
  #closing: Promise<void> | undefined
  #exited: Tracked[] = []
  #probing = false
  readonly #forgetExit: () => void

  constructor(world: World, settings: Settings, log: Log) {
    this.world = world
    this.nonce = world.randomName()
    this.settings = settings
    this.warnings = new Warnings(log)
    this.directory = new PrivateDirectory(settings.spillDirectory, JSON.stringify(world.owner))
    this.watch = new Watch(world.table, world.clock, world.host)
    this.channels = {
      stock: new FifoStock(this.directory, world.run, world.runSync, world.clock, (error) =>
        this.warnings.once('mkfifo', { err: error }, 'cannot make FIFOs; output goes through pipes, and commands cannot open /dev/stdout'),
      ),
      shelf: new SpillShelf(this.directory, this.warnings, settings, world),
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      // A name that is gone can still be opened by way of /proc/self/fd, but not by way of the /dev/fd of others.
      keepsNames: world.platform !== 'linux',
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
    if (this.directory.base === settings.spillDirectory) return
    this.directory.base = settings.spillDirectory
    this.directory.renew()
    this.channels.stock.clear()
  }

  /** Marks the processes of one spawn; names its data too. */
  nextCookie(): string {
    return `${this.nonce}.${this.#counter++}`
  }

  /** The leader has exited: asks after the tree once `done` has been told, and after a few that are older. */
  settled(tracked: Tracked): void {
    this.#exited.push(tracked)
    if (this.#probing) return
    this.#probing = true
    setImmediate(() => {
      this.#probing = false
      const exited = this.#exited
      this.#exited = []
      let left = REPROBES * exited.length
      for (const older of this.live) {
        if (left-- <= 0) break
        // To the end of the line.
        this.live.delete(older)
        this.live.add(older)
        older.tree.probe()
      }
      for (const each of exited) each.tree.probe()
    })
  }

  /** Ends everything and waits until it is quiet. Rejects with what could not be ended. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const failures = (
      await Promise.all([...[...this.live].map((tracked) => this.#end(tracked)), this.#counter === 0 ? undefined : endEscapees(this)])
    ).filter((error) => error !== undefined)
    await this.channels.stock.close()
    for (const stream of [...this.open]) stream.close()
    this.channels.shelf.withdrawAll()
    await this.directory.remove().catch((error: unknown) => this.warnings.log.warn({ err: error }, 'cannot remove the private directory'))
    this.#forgetExit()
    if (failures.length === 1) throw failures[0]
    if (failures.length > 1) throw new AggregateError(failures, `${failures.length} process trees could not be ended`)
  }

  async #end({ tree, program, graceMs }: Tracked): Promise<Error | undefined> {
    tree.terminate()
    const waitMs = graceMs + this.settings.killWaitMs
    const enough = new AbortController()
    const timer = this.world.clock.after(Math.min(waitMs, 2_147_483_647), () => enough.abort())
    const gone = await tree.waitForExit(enough.signal)
    timer.cancel()
    if (gone) return undefined
    const pids = [...tree.remaining]
    tree.abandon()
    return new SubprocessError('TREE_SURVIVED', `${program}: still alive ${waitMs} ms after it was asked to end: pid ${pids.join(', ')}`, {
      details: { program, pids },
    })
  }

  /** The host is ending, whatever the reason: nothing asynchronous runs any more, and a fault here would replace the reason. */
  #hostExits(): void {
    if (this.#counter > 0) {
      // Twice, for what was forked while the table was read. To list the processes of Windows takes longer than the host has.
      const passes = this.world.platform === 'win32' ? [undefined] : [this.world.table, this.world.table]
      for (const table of passes) contained(() => this.#killAll(table?.snapshotSync()))
    }
    contained(() => this.directory.removeSync())
  }

  #killAll(snapshot: Snapshot | undefined): void {
    const index = snapshot && new ProcessIndex(snapshot, this.world.host)
    for (const { tree } of this.live) contained(() => tree.killNow(index))
    if (index !== undefined) killEscapees(this, index)
  }
}

function contained(work: () => void): void {
  try {
    work()
  } catch {
    // One failing target does not stop the pass.
  }
}
