import { type AsyncHook, createHook } from 'node:async_hooks'
import type { Leftover } from './leftover.ts'

/** Kinds of asynchronous resources that outlive the code that made them, by the names that Node's async hooks give them. */
const WATCHED: Readonly<Record<string, readonly [Leftover['kind'], string]>> = {
  Timeout: ['timer', 'a timer'],
  PROCESSWRAP: ['process', 'a child process'],
  TCPSERVERWRAP: ['handle', 'a TCP server'],
  TCPWRAP: ['handle', 'a TCP connection'],
  PIPESERVERWRAP: ['handle', 'a pipe server'],
  PIPEWRAP: ['handle', 'a pipe'],
  UDPWRAP: ['handle', 'a UDP socket'],
  FSEVENTWRAP: ['handle', 'a file watcher'],
  STATWATCHER: ['handle', 'a file watcher'],
  FILEHANDLE: ['handle', 'an open file'],
  DIRHANDLE: ['handle', 'an open directory'],
  SIGNALWRAP: ['handle', 'a signal handler'],
  TTYWRAP: ['handle', 'a terminal'],
  WORKER: ['handle', 'a worker thread'],
}

/** Packages whose own timers and handles come and go around a test. */
const RUNNERS =
  /[\\/]node_modules[\\/](?:\.pnpm[\\/][^\\/]+[\\/]node_modules[\\/])?(?:@vitest|vitest|vite|vite-node|tinypool|birpc|jest[^\\/]*|@jest|mocha|ava)[\\/]/

interface Live {
  readonly type: string
  readonly resource: object
  readonly frames: readonly string[]
}

/**
 * Knows what was made since it began and is still alive. While it watches, every promise of the process costs more: it is for
 * tests. What the test runner makes does not count, nor do `AbortSignal.timeout` timers, which nobody can undo.
 */
export class ResourceWatch {
  readonly #live = new Map<number, Live>()
  readonly #hook: AsyncHook
  #isOwn = false

  constructor() {
    this.#hook = createHook({
      init: (id, type, _trigger, resource: object) => {
        if (this.#isOwn || !(type in WATCHED)) return
        this.#live.set(id, { type, resource, frames: callers() })
        if (type === 'DIRHANDLE') onClose(resource, () => void this.#live.delete(id))
      },
      destroy: (id) => void this.#live.delete(id),
    }).enable()
  }

  /**
   * Resolves once nothing is left, or after the grace with what is. Handles take some turns of the event loop to close. Child processes
   * that are left are killed: they would outlive the test run.
   */
  async left(graceMs: number): Promise<Leftover[]> {
    const until = performance.now() + graceMs
    for (let turn = 0; ; turn++) {
      await this.#pause(turn)
      const left = [...this.#live.values()].filter(isLeft)
      if (left.length === 0) return []
      if (performance.now() >= until) {
        for (const live of left) end(live)
        return left.map(describe)
      }
    }
  }

  stop(): void {
    this.#hook.disable()
    this.#live.clear()
  }

  /** The first turns without a timer: most things are gone then. */
  #pause(turn: number): Promise<void> {
    return new Promise((resolve) => {
      this.#isOwn = true
      if (turn < 5) setImmediate(resolve)
      else setTimeout(resolve, 5)
      this.#isOwn = false
    })
  }
}

/** Node reports the end of a directory only when it is collected, and its handle does not say whether it is closed. */
function onClose(resource: { close?: (...request: unknown[]) => unknown }, closed: () => void): void {
  const { close } = resource
  if (close === undefined) return
  resource.close = (...request) => {
    closed()
    return close.apply(resource, request)
  }
}

function pidOf({ type, resource }: Live): number | undefined {
  const { pid } = resource as { readonly pid?: unknown }
  return type === 'PROCESSWRAP' && typeof pid === 'number' ? pid : undefined
}

/** Its wrap is alive, so it has not been waited for, and the pid is still its own. */
function end(live: Live): void {
  const pid = pidOf(live)
  if (pid === undefined) return
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // Gone meanwhile.
  }
}

function callers(): string[] {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 40
  const { stack = '' } = new Error()
  Error.stackTraceLimit = stackTraceLimit
  return stack
    .split('\n')
    .slice(1)
    .filter((frame) => !frame.includes('resource-watch'))
}

function isForeign(frame: string): boolean {
  return !frame.includes('node:') && !frame.includes('<anonymous>')
}

function isLeft({ type, resource, frames }: Live): boolean {
  if (type === 'Timeout' && (resource as { readonly _destroyed?: boolean })._destroyed === true) return false
  // Closed, and reported when it is collected.
  if (type === 'FILEHANDLE' && ((resource as { readonly fd?: number }).fd ?? 0) < 0) return false
  if (frames.some((frame) => frame.includes('AbortSignal.timeout') || frame.includes('Function.timeout (node:internal/abort_controller')))
    return false
  const nearest = frames.find(isForeign)
  // Timers that only Node itself asked for are caches of its own; a connection that was accepted has no caller either, and counts.
  if (nearest === undefined) return type !== 'Timeout'
  return !RUNNERS.test(nearest)
}

function describe(live: Live): Leftover {
  const { type, frames } = live
  const [kind, what] = WATCHED[type] ?? ['handle', type]
  const pid = pidOf(live)
  const place = frames.find((frame) => isForeign(frame) && !frame.includes('node_modules')) ?? frames.find(isForeign)
  const where = place?.trim().replace(/^at /, '')
  return { kind, what: pid !== undefined ? `${what}, pid ${pid}` : what, ...(where === undefined ? {} : { where }) }
}
