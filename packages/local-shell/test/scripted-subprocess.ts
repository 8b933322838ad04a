import { type ExitFacts, type OutputReader, type SpawnSpec, type Subprocess, SubprocessError, type SubprocessHandle } from '@tenon/subprocess'
import { fixedReader } from '../src/fixed-reader.ts'

/** One process that a test plays. */
export class ScriptedProcess {
  readonly spec: SpawnSpec
  readonly handle: SubprocessHandle
  terminations = 0
  readonly #settle: { resolve(facts: ExitFacts): void; reject(error: unknown): void }
  readonly #streams = { stdout: '', stderr: '' }

  constructor(spec: SpawnSpec, pid: number | undefined) {
    this.spec = spec
    let settle = { resolve: (_: ExitFacts): void => undefined, reject: (_: unknown): void => undefined }
    const done = new Promise<ExitFacts>((resolve, reject) => {
      settle = { resolve, reject }
    })
    done.catch(() => undefined)
    this.#settle = settle
    this.handle = {
      pid,
      started: Promise.resolve(pid !== undefined),
      done,
      output: { stdout: this.#reader('stdout'), stderr: this.#reader('stderr') },
      terminate: () => {
        this.terminations++
      },
      waitForExit: async () => true,
      survivors: async () => 0,
    }
  }

  write(text: string, to: 'stdout' | 'stderr' = 'stdout'): this {
    this.#streams[to] += text
    return this
  }

  exit(exitCode: number | null, signal: NodeJS.Signals | null = null): this {
    this.#settle.resolve({ exitCode, signal })
    return this
  }

  fail(error: unknown): this {
    this.#settle.reject(error)
    return this
  }

  #reader(name: 'stdout' | 'stderr'): OutputReader {
    const now = (): OutputReader => fixedReader(this.#streams[name])
    return { ...now(), size: () => now().size(), readFrom: (offset, maxBytes) => now().readFrom(offset, maxBytes) }
  }
}

/** Hands out processes that tests play; the world has every program that is not said to be missing. */
export class ScriptedSubprocess implements Subprocess {
  readonly spawned: ScriptedProcess[] = []
  readonly resolved: string[] = []
  /** Runs in place of a start; may throw. */
  onSpawn: (process: ScriptedProcess) => void = () => undefined
  startFails: unknown
  /** The path of a program, or what its look-up rejects with. */
  programs: (name: string) => Promise<string> = async () => process.execPath

  spawn(spec: SpawnSpec): SubprocessHandle {
    const failure = this.startFails
    const started = new ScriptedProcess(spec, failure === undefined ? 4_000 + this.spawned.length : undefined)
    this.spawned.push(started)
    this.onSpawn(started)
    if (failure !== undefined) started.fail(failure)
    return started.handle
  }

  resolveExecutable(name: string): Promise<string> {
    this.resolved.push(name)
    return this.programs(name)
  }

  get last(): ScriptedProcess {
    const last = this.spawned.at(-1)
    if (last === undefined) throw new Error('nothing was spawned')
    return last
  }
}

/** What the contract's provider rejects with when the platform raised `cause`. */
export function spawnFailed(cause: unknown): SubprocessError {
  return new SubprocessError('SPAWN_FAILED', 'spawn: could not start', { cause })
}
