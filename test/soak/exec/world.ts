import { mkdtempSync, realpathSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kernel, type Logger, type Plugin } from '@tenon/kernel'
import localBash from '@tenon/plugin-local-bash'
import localSubprocess from '@tenon/plugin-local-subprocess'
import { Shell } from '@tenon/shell'
import { COOKIE_VARIABLE, type OutputReader, Subprocess } from '@tenon/subprocess'
import { launcherOf } from '../../launcher-of.ts'

/** Small, so that overflow and its end are everyday matters. */
export const MAX_OUTPUT_BYTES = 64_000
export const MAX_SPILL_BYTES = 8 * 1024 ** 2
/** A trap must have its time on a busy machine, too. */
export const GRACE_MS = 2_000

/** Before a world puts its own in place. */
const temporary = tmpdir()

/** A kernel with the two rows under test, and all that is temporary in a folder of its own. */
export class World implements AsyncDisposable {
  readonly folder = realpathSync(mkdtempSync(join(temporary, 'soak-exec-')))
  /** Of a session that outlives its commands. Never aborts. */
  readonly session = new AbortController()
  /** Whatever the rows warned of: nothing here is a reason for a warning. */
  readonly warnings: string[] = []
  readonly #kernel: Kernel
  #launcher = 0
  /** Files that nobody has released yet; see `release`. */
  #kept: OutputReader[] = []

  private constructor() {
    process.env.TMPDIR = this.folder
    this.#kernel = new Kernel({ logger: this.#logger() })
  }

  static async open(): Promise<World> {
    const world = new World()
    const config = { maxOutputBytes: MAX_OUTPUT_BYTES, maxSpillBytes: MAX_SPILL_BYTES, graceMs: GRACE_MS, cwd: world.folder }
    world.#kernel.load(localSubprocess as Plugin<never> as Plugin, { spillDirectory: world.folder }, { id: 'processes' })
    await world.#kernel.load(localBash as Plugin<never> as Plugin, config, { id: 'executor' }).ready()
    world.#launcher = await launcherOf(world.subprocess)
    return world
  }

  /** Pid of the process that starts the commands; 0 before the world is open. */
  get launcher(): number {
    return this.#launcher
  }

  get shell(): Shell {
    const shell = this.#kernel.get(Shell)
    if (shell === undefined) throw new Error('no shell is provided')
    return shell
  }

  get subprocess(): Subprocess {
    const subprocess = this.#kernel.get(Subprocess)
    if (subprocess === undefined) throw new Error('no subprocess is provided')
    return subprocess
  }

  /** What begins the cookies of all processes of the runtime. */
  async nonce(): Promise<string> {
    const execution = await this.shell.execute(this.shell.resolve({ command: `printf %s "$${COOKIE_VARIABLE}"` }))
    const [nonce] = (await execution.result()).stdout.text.split('.')
    if (nonce === undefined || nonce.length < 32) throw new Error('the commands have no cookie')
    return nonce
  }

  keep(readers: readonly OutputReader[]): void {
    this.#kept.push(...readers)
  }

  release(): void {
    for (const reader of this.#kept) reader.release()
    this.#kept = []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#kernel[Symbol.asyncDispose]()
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true })
  }

  #logger(): Logger {
    const quiet = (): void => undefined
    const told = (...parts: unknown[]): void => void this.warnings.push(parts.map(describe).join(' '))
    const logger: unknown = {
      level: 'warn',
      child: () => logger,
      fatal: told,
      error: told,
      warn: told,
      info: quiet,
      debug: quiet,
      trace: quiet,
      silent: quiet,
    }
    return logger as Logger
  }
}

function describe(part: unknown): string {
  if (typeof part === 'string') return part
  const { err } = (part ?? {}) as { err?: unknown }
  return err instanceof Error ? String(err) : (JSON.stringify(part) ?? String(part))
}
