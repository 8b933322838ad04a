import { statSync } from 'node:fs'
import { ShellError } from '@tenon/shell'
import type { Subprocess } from '@tenon/subprocess'
import type { Dialect } from './dialect.ts'
import type { ShellHost } from './host.ts'

/** The shell's program: discovered at once, resolved by the first execution, then remembered and looked at once per execution. */
export class ShellProgram {
  readonly #dialect: Dialect
  readonly #subprocess: Subprocess
  readonly #host: ShellHost
  readonly #configured: string | undefined
  /** Undefined after a SHELL_MISSING: somebody may have installed it since. */
  #name: string | undefined
  #path: string | undefined

  constructor(dialect: Dialect, subprocess: Subprocess, host: ShellHost, configured: string | undefined) {
    this.#dialect = dialect
    this.#subprocess = subprocess
    this.#host = host
    this.#configured = configured
    this.#name = this.#discover()
  }

  /** As it was found last; whether it is still there, a start tells. */
  get remembered(): string | undefined {
    return this.#path
  }

  /** @throws ShellError SHELL_MISSING */
  async path(): Promise<string> {
    if (this.#path !== undefined && isRunnable(this.#path, this.#host.platform)) return this.#path
    this.#name ??= this.#discover()
    const name = this.#name
    try {
      // No environment: the search path is the host's, so a request cannot choose the shell.
      this.#path = await this.#subprocess.resolveExecutable(name)
      return this.#path
    } catch (cause) {
      this.#name = undefined
      this.#path = undefined
      // It says what to do; what is missing is where.
      const why = cause instanceof Error ? cause.message : String(cause)
      const setting = `the setting "executable"${this.#configured === undefined ? ' is not given' : ''}`
      throw new ShellError('SHELL_MISSING', `${this.#dialect.name} cannot be run as "${name}" (${setting}): ${why}`, {
        cause,
        details: { executable: name },
      })
    }
  }

  #discover(): string {
    const { env, platform, lstat } = this.#host
    return this.#dialect.discover({ env, platform, lstat, ...(this.#configured !== undefined && { configured: this.#configured }) })
  }
}

/** Without a thread: to wake one takes ten times as long as this call, and the program is about to be read by whoever starts it anyway. */
function isRunnable(path: string, platform: NodeJS.Platform): boolean {
  try {
    const stats = statSync(path)
    return stats.isFile() && (platform === 'win32' || (stats.mode & 0o111) !== 0)
  } catch {
    return false
  }
}
