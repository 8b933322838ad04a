import type { ChildProcess, SpawnOptions, StdioOptions } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import type { ExitFacts } from '@tenon/subprocess'
import type { LaunchEvents, Launched, Launcher, LaunchPlan, LaunchTerms, OutputEnd, StdinEnd } from './launch-plan.ts'

export type SpawnFunction = (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess

/** Launches as a child of the process it runs in. */
export class HostLauncher implements Launcher {
  readonly #spawn: SpawnFunction
  readonly #detached: boolean
  readonly #assertRunnable: (plan: LaunchPlan) => void

  /**
   * `assertRunnable` throws what the platform would for a program that is not there: needed where a missing program would first start
   * a command interpreter.
   */
  constructor(spawn: SpawnFunction, platform: NodeJS.Platform, assertRunnable: (plan: LaunchPlan) => void = () => undefined) {
    this.#spawn = spawn
    // There are no sessions on Windows, and a detached child opens a window for each console program that it runs.
    this.#detached = platform !== 'win32'
    this.#assertRunnable = assertRunnable
  }

  /** `mayBegin` is asked when the child's ends are open, right before the start. */
  launch(plan: LaunchPlan, _terms: LaunchTerms, events: LaunchEvents, mayBegin: () => boolean = () => true): Launched {
    const ends = new ChildEnds()
    try {
      this.#assertRunnable(plan)
      const stdio: StdioOptions = [ends.stdin(plan.stdin), ends.output(plan.stdout), ends.output(plan.stderr)]
      if (!mayBegin()) {
        process.nextTick(() => events.revoked())
        return { state: 'failed' }
      }
      const [program, ...args] = plan.argv
      const child = this.#spawn(program, args, {
        cwd: plan.cwd,
        env: withoutHostAdditions(plan.env),
        stdio,
        detached: this.#detached,
        windowsHide: true,
        ...(plan.argv0 !== undefined && { argv0: plan.argv0 }),
      })
      return follow(child, events)
    } catch (cause) {
      // Never before `launch` returned.
      process.nextTick(() => events.failed(cause))
      return { state: 'failed' }
    } finally {
      ends.close()
    }
  }
}

function follow(child: ChildProcess, events: LaunchEvents): Launched {
  const { pid, stdin, stdout, stderr } = child
  if (pid === undefined) {
    child.on('error', (cause: Error) => events.failed(cause))
    // Node made the host's ends before it knew; out of descriptors, it made nothing at all.
    for (const stream of (child.stdio as ChildProcess['stdio'] | undefined) ?? []) stream?.destroy()
    return { state: 'failed' }
  }
  child.on('error', (error: Error) => events.fault(error))
  child.once('exit', (exitCode: number | null, signal: NodeJS.Signals | null) => events.exited({ exitCode, signal } satisfies ExitFacts))
  return { state: 'started', process: { pid }, ...(stdin && { stdin }), ...(stdout && { stdout }), ...(stderr && { stderr }) }
}

/** Node copies this variable of the host into every environment that does not have it, be it as undefined. */
export function withoutHostAdditions(env: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  return 'NODE_V8_COVERAGE' in env ? env : Object.assign(Object.create(null) as NodeJS.ProcessEnv, env, { NODE_V8_COVERAGE: undefined })
}

/** The child's ends: open for as long as the call that starts it. */
class ChildEnds {
  readonly #descriptors: number[] = []

  stdin(end: StdinEnd): number | 'ignore' | 'pipe' {
    if (end.kind === 'null') return 'ignore'
    if (end.kind === 'pipe') return 'pipe'
    return end.kind === 'file' ? this.#open(end.path, constants.O_RDONLY) : this.#openFifo(end.path, constants.O_RDONLY)
  }

  output(end: OutputEnd): number | 'ignore' | 'inherit' | 'pipe' {
    if (end.kind === 'null') return 'ignore'
    return end.kind === 'fifo' ? this.#openFifo(end.path, constants.O_WRONLY) : end.kind
  }

  close(): void {
    for (const descriptor of this.#descriptors) closeSync(descriptor)
  }

  /** Waits for nobody: whoever holds the other end may have died meanwhile. libuv makes it blocking in the child, which expects its standard streams so. */
  #openFifo(path: string, flags: number): number {
    return this.#open(path, flags | constants.O_NONBLOCK)
  }

  #open(path: string, flags: number): number {
    const descriptor = openSync(path, flags)
    this.#descriptors.push(descriptor)
    return descriptor
  }
}
